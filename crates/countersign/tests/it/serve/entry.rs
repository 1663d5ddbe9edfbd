//! Who is let in.

use super::{Server, judged};
use countersign_testkit::eventually;
use serde_json::json;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

#[test]
fn only_who_has_the_token_and_names_us_is_let_in() {
    let (project, judge) = judged();
    let server = Server::start(&project);
    let mode = std::fs::metadata(project.ledger_path("serve-token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(project.read_own(".gitignore"), "*\n");
    assert!(server.said.iter().any(|line| line.contains(&server.token)), "{:?}", server.said);
    let own = |name: &str| format!("{name}:{}", server.port);
    let good = server.bearer();
    let wrong = format!("Bearer {}", "0".repeat(64));
    let (localhost, ours, other, rebound) =
        (own("localhost"), own("http://127.0.0.1"), own("http://evil.example"), own("evil.example"));
    let authorized = ("Authorization", good.as_str());
    for (given, status) in [
        (vec![authorized], 422),
        (vec![authorized, ("Host", &localhost)], 422),
        (vec![authorized, ("Origin", &ours)], 422),
        (vec![], 401),
        (vec![("Authorization", wrong.as_str())], 401),
        (vec![("Authorization", &server.token)], 401),
        (vec![("Authorization", "Bearer ")], 401),
        (vec![authorized, ("Origin", &other)], 403),
        (vec![authorized, ("Origin", "null")], 403),
        (vec![authorized, ("Host", &rebound)], 403),
        (vec![authorized, ("Host", "127.0.0.1:1")], 403),
        (vec![("Origin", &other)], 403),
        (vec![authorized, ("Host", "")], 400),
    ] {
        let headers = [given.clone(), vec![("Content-Type", "application/json")]].concat();
        let answer = server.send("POST", "/v1/reviews", &headers, r#"{"files": ["missing.md"]}"#);
        assert_eq!(answer.status, status, "{given:?}: {answer:?}");
        let error = &answer.json()["error"];
        assert!(error["message"].is_string() && error["hint"].is_string() | error["hint"].is_null());
        assert!(!answer.head.contains(&server.token) && !answer.body.contains(&server.token));
    }
    let denied = server.send("GET", "/v1/status", &[], "");
    assert_eq!(denied.header("www-authenticate").as_deref(), Some("Bearer"));
    assert_eq!(server.send("GET", "/nowhere", &[], "").status, 401);
    assert!(judge.asked().is_empty());
}

/// What says nothing about the project needs no token, and is no way in for a page all the same.
#[test]
fn health_and_description_are_open() {
    let (project, _) = judged();
    let server = Server::start(&project);
    for path in ["/v1/health", "/openapi.json"] {
        let answer = server.send("GET", path, &[], "");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.body.contains(project.root().to_str().unwrap()));
        let foreign = server.send("GET", path, &[("Origin", "http://evil.example")], "");
        assert_eq!(foreign.status, 403);
    }
    assert_eq!(server.get("/v1/health").json()["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_token_is_kept_and_shown_once() {
    let (project, _) = judged();
    let first = Server::start(&project);
    let token = first.token.clone();
    let arguments = std::fs::read(format!("/proc/{}/cmdline", first.id())).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains(&token));
    assert_eq!(first.served.ends(rustix::process::Signal::TERM), 0);
    let second = Server::start(&project);
    assert_eq!(second.token, token);
    assert!(!second.said.iter().any(|line| line.contains(&token)), "{:?}", second.said);
}

#[test]
fn an_agent_does_not_start_it_and_a_taken_port_is_told() {
    let (project, _) = judged();
    let mut by_agent = project.command(&["serve", "--port", "0", "--json"]);
    let ran = countersign_testkit::Running::start(by_agent.env("CLAUDECODE", "1")).wait().exits(2);
    assert_eq!(ran.json()["error"]["code"], "people_only");
    assert!(!project.ledger_path("serve-token").exists());
    let server = Server::start(&project);
    let ran = project.run(&["serve", "--port", &server.port.to_string()]).exits(2);
    assert!(ran.stderr.contains("cannot be used") && ran.stderr.contains("use another --port"), "{ran:?}");
}

/// A target in absolute form names a host too.
#[test]
fn issue_19_a_target_that_names_another_host_is_refused() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let bearer = server.bearer();
    let own = format!("http://127.0.0.1:{}/v1/status", server.port);
    for (target, status) in [
        (own.as_str(), 200),
        ("http://evil.example/v1/status", 403),
        ("http://127.0.0.1:1/v1/status", 403),
        ("https://evil.example/v1/health", 403),
    ] {
        let answer = server.send("GET", target, &[("Authorization", &bearer)], "");
        assert_eq!(answer.status, status, "{target}: {answer:?}");
    }
}

/// Whoever opens connections and says nothing, or half of something, keeps nobody else out.
#[test]
fn silent_connections_keep_nobody_out() {
    let (project, _) = judged();
    let server = Server::start(&project);
    let silent = |n: usize| {
        let mut stream = server.connect();
        if n % 2 == 1 {
            stream.write_all(b"POST /v1/reviews HTTP/1.1\r\nHost: 127").unwrap();
        }
        stream
    };
    let silent: Vec<_> = (0..200).map(silent).collect();
    eventually("an answer beside them", || server.get("/v1/status").status == 200);
    drop(silent);
    assert_eq!(server.post("/v1/tasks", &json!({ "title": "t" })).status, 201);
}
