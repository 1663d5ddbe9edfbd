//! A client that knows nothing but lines of JSON.

use countersign_testkit::Project;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// No answer takes longer; one that does is missing.
const LIMIT: Duration = Duration::from_secs(60);
pub const NEWEST: &str = "2026-07-28";

/// A server and its client.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// What came that was no answer.
    pub notifications: Vec<Value>,
    /// Answers nobody waits for yet.
    answers: Vec<Value>,
    next_id: u64,
    /// What every request says of itself, in versions without a handshake.
    meta: Value,
}

impl Client {
    /// Starts a server; nothing is said yet.
    pub fn silent(project: &Project, args: &[&str]) -> Self {
        let mut command = project.command(&[&["mcp"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // Nothing but the protocol is on standard output.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not_json": line }));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, notifications: vec![], answers: vec![], next_id: 1, meta: json!({}) }
    }

    /// A client of a version with a handshake.
    pub fn new(project: &Project) -> Self {
        let mut client = Self::silent(project, &[]);
        client.initialize("2025-11-25");
        client
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "tester", "version": "1" } });
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    /// From now on every request is of the version without a handshake.
    pub fn newest(&mut self) {
        self.meta = json!({
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }

    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request and gives its id.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let own = params["_meta"].take();
        let mut meta = self.meta.clone();
        if let (Some(meta), Some(own)) = (meta.as_object_mut(), own.as_object()) {
            meta.extend(own.clone());
        }
        params["_meta"] = meta;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                return self.answers.remove(at);
            }
            self.receive();
        }
    }

    /// Takes the next message.
    pub fn receive(&mut self) {
        let message = self.lines.recv_timeout(LIMIT).expect("no message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        match message.get("method") {
            Some(_) => self.notifications.push(message),
            None => self.answers.push(message),
        }
    }

    /// An answer that names no request.
    pub fn answer_to_nobody(&mut self) -> Value {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"].is_null()) {
                return self.answers.remove(at);
            }
            self.receive();
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool: the result, good or bad.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed: its structured content.
    #[track_caller]
    pub fn good(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// Calls a tool that must fail: the error.
    #[track_caller]
    pub fn bad(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let error = result["structuredContent"]["error"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(error["message"].as_str().unwrap()), "{result}");
        error
    }

    /// Hands in and waits for the verdict.
    pub fn review(&mut self, arguments: Value) -> Value {
        let handle = self.good("review_submit", arguments);
        self.good("review_wait", json!({ "review": handle["review"], "timeout_seconds": 60 }))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Hangs up. The server ends by itself: its exit code and what it said beside the protocol.
    pub fn hang_up(mut self) -> (i32, String) {
        drop(self.stdin.take());
        self.ended()
    }

    /// Waits for the end.
    pub fn ended(&mut self) -> (i32, String) {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
