//! Over HTTP: who is let in, and sessions of older versions.

use crate::client::NEWEST;
use crate::{judged, recorded};
use countersign_testkit::{Answered, Project, Served, eventually};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// A server on a port of its own.
pub struct Server(Served);

impl Server {
    pub fn start(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = project.command(&[&["mcp", "--transport", "http", "--port", "0"], args].concat());
        Self(Served::start(command.envs(variables.iter().copied())))
    }

    pub fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let own = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        self.0.send(method, "/mcp", &[&own, headers].concat(), body)
    }

    pub fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answered {
        self.send("POST", headers, &message.to_string())
    }

    /// Ends it as a service manager would.
    fn terminate(self) -> i32 {
        self.0.ends(rustix::process::Signal::TERM)
    }
}

impl Deref for Server {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.0
    }
}

/// The message in an answer, whether it came alone or as an event.
pub fn message(answer: &Answered) -> Value {
    let line = answer
        .body
        .lines()
        .map(|line| line.trim_start_matches("data:").trim())
        .rfind(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

pub fn newest(method: &str, name: Option<&str>, params: Value) -> (Value, Vec<(&'static str, String)>) {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![("MCP-Protocol-Version", NEWEST.to_owned()), ("Mcp-Method", method.to_owned())];
    headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
    (json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }), headers)
}

pub fn with<'a>(
    more: &[(&'a str, &'a str)],
    headers: &'a [(&'static str, String)],
) -> Vec<(&'a str, &'a str)> {
    more.iter().copied().chain(headers.iter().map(|(name, value)| (*name, value.as_str()))).collect()
}

#[test]
fn only_who_is_ours_is_let_in() {
    let (project, judge) = judged();
    let server = Server::start(&project, &[], &[]);
    let token = project.read_own("mcp-token").trim().to_owned();
    let mode = std::fs::metadata(project.ledger_path("mcp-token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(project.read_own(".gitignore"), "*\n");
    assert!(server.said.iter().any(|line| line.contains(&token)), "{:?}", server.said);
    let good = format!("Bearer {token}");
    let wrong = format!("Bearer {}", token.replace(['0', '1', '2'], "3"));
    let own = |name: &str| format!("{name}:{}", server.port);
    let (localhost, ours, other) = (own("localhost"), own("http://127.0.0.1"), own("http://evil.example"));
    let rebound = own("evil.example");
    let (message, headers) = newest(
        "tools/call",
        Some("review_submit"),
        json!({ "name": "review_submit", "arguments": { "files": 3 } }),
    );
    for (given, status) in [
        (vec![("Authorization", good.as_str())], 200),
        (vec![("Authorization", &good), ("Host", &localhost)], 200),
        (vec![("Authorization", &good), ("Origin", &ours)], 200),
        (vec![], 401),
        (vec![("Authorization", &wrong)], 401),
        (vec![("Authorization", &token)], 401),
        (vec![("Authorization", "Bearer ")], 401),
        (vec![("Authorization", &good), ("Origin", &other)], 403),
        (vec![("Authorization", &good), ("Origin", "null")], 403),
        (vec![("Authorization", &good), ("Origin", "http://localhost")], 403),
        (vec![("Authorization", &good), ("Host", &rebound)], 403),
        (vec![("Authorization", &good), ("Host", "127.0.0.1:1")], 403),
        (vec![("Authorization", &good), ("Host", "")], 400),
    ] {
        let answer = server.post(&with(&given, &headers), &message);
        assert_eq!(answer.status, status, "{given:?}: {answer:?}");
        assert!(!answer.head.contains(&token) && !answer.body.contains(&token));
    }
    assert_eq!(
        server.post(&with(&[], &headers), &message).header("www-authenticate").as_deref(),
        Some("Bearer")
    );
    assert_eq!(recorded(&project), json!(null));
    assert!(judge.asked().is_empty());
    assert_eq!(server.terminate(), 0);
    // The token stays, and is not shown again.
    let server = Server::start(&project, &[], &[]);
    assert_eq!(project.read_own("mcp-token").trim(), token);
    assert!(!server.said.iter().any(|line| line.contains(&token)), "{:?}", server.said);
}

#[test]
fn only_this_machine_reaches_it() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    // The address this machine has for others, where it has one; nothing is sent.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    if socket.connect("192.0.2.1:9").is_ok() {
        let outside = socket.local_addr().unwrap().ip();
        assert!(outside.is_loopback() || TcpStream::connect((outside, server.port)).is_err());
    }
}

#[test]
fn a_review_over_http_without_a_session() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    let call = |name: &str, arguments: Value, token: Option<&str>| {
        let mut params = json!({ "name": name, "arguments": arguments });
        let (mut asked, headers) = newest("tools/call", Some(name), params.take());
        asked["params"]["name"] = json!(name);
        asked["params"]["arguments"] = arguments.clone();
        if let Some(token) = token {
            asked["params"]["_meta"]["progressToken"] = json!(token);
        }
        server.post(&with(&[], &headers), &asked)
    };
    let handle = message(&call("review_submit", json!({ "files": ["a.md"], "subject": "s" }), None));
    let review = handle["result"]["structuredContent"]["review"].clone();
    let answer = call("review_wait", json!({ "review": review }), Some("tok"));
    assert_eq!(message(&answer)["result"]["structuredContent"]["outcome"], "needs_work", "{answer:?}");
    assert!(answer.header("mcp-session-id").is_none());
    // The answer counts as given, so the same again is the next attempt.
    eventually("the next round", || {
        let again = message(&call("review_submit", json!({ "files": ["a.md"], "subject": "s" }), None));
        again["result"]["structuredContent"]["round"] == 2
    });
    assert_eq!(server.terminate(), 0);
}

#[test]
fn older_versions_have_sessions() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "tester", "version": "1" } } });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
    let begun = server.post(&[], &initialize);
    assert_eq!(message(&begun)["result"]["protocolVersion"], "2025-06-18", "{begun:?}");
    let session = begun.header("mcp-session-id").unwrap();
    let version = ("MCP-Protocol-Version", "2025-06-18");
    let own = [("Mcp-Session-Id", session.as_str()), version];
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.post(&own, &note).status, 202);
    assert_eq!(message(&server.post(&own, &list))["result"]["tools"].as_array().unwrap().len(), 9);
    assert_eq!(server.post(&[("Mcp-Session-Id", "nobody"), version], &list).status, 404);
    assert!((400..500).contains(&server.post(&[version], &list).status));
    assert!((200..300).contains(&server.send("DELETE", &own, "").status));
    assert_eq!(server.post(&own, &list).status, 404);
}

#[test]
fn what_is_no_message_is_refused() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    let (message, headers) = newest("tools/list", None, json!({}));
    for (method, body, status) in [
        ("POST", "not JSON".to_owned(), 400..=499),
        ("POST", "[]".to_owned(), 400..=499),
        ("POST", "x".repeat(17 * 1024 * 1024), 413..=413),
        ("PUT", message.to_string(), 405..=405),
        ("POST", message.to_string(), 200..=200),
    ] {
        let answer = server.send(method, &with(&[], &headers), &body);
        assert!(status.contains(&answer.status), "{method} {}: {answer:?}", &body[..body.len().min(40)]);
    }
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream
        .write_all(
            format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", server.port)
                .as_bytes(),
        )
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 404"), "{text}");
}

/// Whoever opens connections and says nothing, or half of something, keeps nobody else out.
#[test]
fn silent_connections_keep_nobody_out() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    let connect = |n: usize| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        if n % 2 == 1 {
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127").unwrap();
        }
        stream
    };
    let silent: Vec<_> = (0..200).map(connect).collect();
    let (message, headers) = newest("tools/list", None, json!({}));
    let before = std::time::Instant::now();
    assert_eq!(server.post(&with(&[], &headers), &message).status, 200);
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    drop(silent);
}

#[test]
fn a_port_that_is_taken_is_told() {
    let (project, _) = judged();
    let server = Server::start(&project, &["--no-token"], &[]);
    let port = server.port.to_string();
    let ran = project.run(&["mcp", "--transport", "http", "--port", &port, "--no-token"]).exits(2);
    assert!(ran.stderr.contains("use another --port"), "{}", ran.stderr);
}
