//! A loopback service that speaks the Messages API, as far as agent programs use it: streams, tools, and every
//! way to fail. A script says what it does with each question; every question is kept.

use crate::wire::{self, Asked};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(600);

/// What the service does with a question.
#[derive(Clone, Debug)]
pub enum Act {
    /// The model uses a tool.
    Use {
        /// The tool's name.
        tool: &'static str,
        /// Its input.
        input: Value,
    },
    /// The model uses the tool for structured answers, and writes this.
    Raw(&'static str),
    /// The model says something, and stops for a reason.
    Say {
        /// The text.
        text: &'static str,
        /// Why it stops: `end_turn`, `refusal`, `max_tokens`.
        stop: &'static str,
    },
    /// An error of the service.
    Error {
        /// The HTTP status.
        status: u16,
        /// The type of the error.
        kind: &'static str,
        /// Its words.
        message: &'static str,
        /// Seconds to wait.
        retry_after: Option<u32>,
    },
    /// The stream ends in the middle.
    Cut,
    /// Something that is no stream at all.
    Page,
    /// Nothing, for ever.
    Hang,
}

impl Act {
    /// A structured answer.
    pub fn answer(input: Value) -> Self {
        Self::Use { tool: "StructuredOutput", input }
    }

    /// An answer about one criterion.
    pub fn ruling(criterion: &str, passed: bool, feedback: &str) -> Self {
        Self::answer(json!({
            "passed": passed,
            "feedback": feedback,
            "criteria_results": [{ "criterion": criterion, "passed": passed, "feedback": feedback }],
        }))
    }

    /// An error without a time to wait.
    pub fn error(status: u16, kind: &'static str, message: &'static str) -> Self {
        Self::Error { status, kind, message, retry_after: None }
    }
}

/// The service. It lives as long as this value, and its open connections as long as the test.
pub struct Messages {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    script: Mutex<VecDeque<Act>>,
    last: Act,
    asked: Mutex<Vec<Asked>>,
}

impl Messages {
    /// A service that does the same with every question.
    pub fn always(act: Act) -> Self {
        Self::scripted(vec![], act)
    }

    /// A service that does one thing after the other, and then the last for ever.
    pub fn scripted(first: Vec<Act>, last: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { script: Mutex::new(first.into()), last, asked: Mutex::new(vec![]) });
        let shared = state.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || state.serve(connection));
            }
        });
        Self { address, state }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The questions to the model, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }
}

impl State {
    /// One connection: question after question, until one side has had enough.
    fn serve(&self, mut connection: TcpStream) {
        while let Some(asked) = wire::read(&mut connection) {
            let done = match asked.path.split('?').next() {
                Some("/v1/messages") => self.act(asked, &mut connection),
                Some("/v1/messages/count_tokens") => {
                    wire::answer(&mut connection, 200, &[], &json!({ "input_tokens": 100 }))
                }
                _ => wire::turn_away(&mut connection),
            };
            if done.is_err() {
                return;
            }
        }
    }

    fn act(&self, asked: Asked, connection: &mut TcpStream) -> std::io::Result<()> {
        let streams = asked.body["stream"] == true;
        let n = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked);
            all.len()
        };
        let act = self.script.lock().unwrap().pop_front().unwrap_or_else(|| self.last.clone());
        let say = |connection: &mut TcpStream, block: Value, delta: Value, stop: &str| {
            if streams {
                wire::stream(connection, &block, &delta, stop)
            } else {
                wire::answer(connection, 200, &[], &wire::whole(&block, &delta, stop))
            }
        };
        let tool =
            |name: &str| json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {} });
        let written = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
        match act {
            Act::Use { tool: name, input } => {
                say(connection, tool(name), written(&input.to_string()), "tool_use")
            }
            Act::Raw(text) => say(connection, tool("StructuredOutput"), written(text), "tool_use"),
            Act::Say { text, stop } => {
                let delta = json!({ "type": "text_delta", "text": text });
                say(connection, json!({ "type": "text", "text": "" }), delta, stop)
            }
            Act::Error { status, kind, message, retry_after } => {
                let error = json!({ "type": "error", "error": { "type": kind, "message": message } });
                let wait = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
                wire::answer(connection, status, wait.as_slice(), &error)
            }
            Act::Cut => wire::cut(connection),
            Act::Page => {
                wire::head(connection, 200, "text/html", 12)?;
                connection.write_all(b"<html>hello<")
            }
            Act::Hang => {
                std::thread::sleep(FOREVER);
                wire::cut(connection)
            }
        }
    }
}
