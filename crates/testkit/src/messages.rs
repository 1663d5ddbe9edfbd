//! The Messages API, as far as agent programs and reviewers use it.

use crate::loopback::{Act, Dialect, Loopback};
use crate::wire::{self, Asked, event};
use serde_json::{Value, json};
use std::io;
use std::net::TcpStream;

/// A service that speaks the Messages API.
pub type Messages = Loopback<MessagesApi>;

/// The Messages API.
#[derive(Default)]
pub struct MessagesApi;

impl Dialect for MessagesApi {
    fn is_question(&self, asked: &Asked) -> bool {
        asked.path.split('?').next() == Some("/v1/messages")
    }

    fn reply(&self, connection: &mut TcpStream, asked: &Asked, act: &Act, n: usize) -> io::Result<()> {
        let say = |connection: &mut TcpStream, block: Value, delta: Value, stop: &str| {
            if asked.body["stream"] == true {
                stream(connection, &block, &delta, stop)
            } else {
                wire::answer(connection, 200, &[], &whole(&block, &delta, stop))
            }
        };
        let tool =
            |name: &str| json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {} });
        let written = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
        let said = |text: &str| json!({ "type": "text_delta", "text": text });
        let text = json!({ "type": "text", "text": "" });
        match act {
            Act::Use { tool: name, input } => {
                say(connection, tool(name), written(&input.to_string()), "tool_use")
            }
            Act::Stopped { raw, stop } => match answering_tool(&asked.body) {
                Some(name) => say(connection, tool(name), written(raw), stop),
                None => say(connection, text, said(raw), stop),
            },
            Act::Raw(raw) => match answering_tool(&asked.body) {
                Some(name) => say(connection, tool(name), written(raw), "tool_use"),
                None => say(connection, text, said(raw), "end_turn"),
            },
            Act::Say { text: words, stop } => say(connection, text, said(words), stop),
            other => unreachable!("{other:?} is no reply"),
        }
    }

    fn error(&self, _: u16, kind: &str, message: &str) -> Value {
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }

    fn beginning(&self) -> String {
        begin(&json!({ "type": "text", "text": "" }), &json!({ "type": "text_delta", "text": "half" }))
    }

    fn aside(&self, connection: &mut TcpStream, asked: &Asked) -> io::Result<()> {
        match asked.path.split('?').next() {
            Some("/v1/messages/count_tokens") => {
                wire::answer(connection, 200, &[], &json!({ "input_tokens": 100 }))
            }
            _ => wire::turn_away(connection),
        }
    }
}

/// The tool that answers are given by: the one the model must use, or the one agent programs have for it.
fn answering_tool(body: &Value) -> Option<&str> {
    let has = |name: &&str| {
        body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == *name))
    };
    body["tool_choice"]["name"].as_str().or(Some("StructuredOutput").filter(has))
}

/// A streamed reply of one block.
fn stream(connection: &mut TcpStream, block: &Value, delta: &Value, stop: &str) -> io::Result<()> {
    let mut body = begin(block, delta);
    body.push_str(&event(&json!({ "type": "content_block_stop", "index": 0 })));
    body.push_str(&event(&json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop, "stop_sequence": null },
        "usage": { "output_tokens": 57 },
    })));
    body.push_str(&event(&json!({ "type": "message_stop" })));
    wire::stream(connection, &body)
}

/// The same reply in one piece, for a program that does not want a stream.
fn whole(block: &Value, delta: &Value, stop: &str) -> Value {
    let mut block = block.clone();
    if let Some(text) = delta["text"].as_str() {
        block["text"] = json!(text);
    }
    if let Some(written) = delta["partial_json"].as_str() {
        block["input"] = serde_json::from_str(written).unwrap_or_default();
    }
    message(&json!([block]), Some(stop))
}

fn begin(block: &Value, delta: &Value) -> String {
    [
        json!({ "type": "message_start", "message": message(&json!([]), None) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
    ]
    .iter()
    .map(event)
    .collect()
}

fn message(content: &Value, stop: Option<&str>) -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 1200,
            "output_tokens": 1,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 20,
        },
    })
}
