//! OpenAI's chat completions, as far as agent programs and reviewers use them.
//!
//! What stops a reply ([`Act::Say`]) is named as in the API (`stop`, `length`, `content_filter`), or as in the
//! Messages API (`end_turn`, `max_tokens`); `refusal` is a reply in the field of that name. The kind of an error
//! ([`Act::Error`]) is its `code`: `invalid_api_key`, `rate_limit_exceeded`, `insufficient_quota`,
//! `context_length_exceeded`, `server_error`.

use crate::loopback::{Act, Dialect, Loopback};
use crate::wire::{self, Asked};
use serde_json::{Value, json};
use std::io;
use std::net::TcpStream;

/// A service that speaks chat completions.
pub type Chat = Loopback<ChatApi>;

/// Chat completions, at any path that ends that way: services differ in what comes before.
#[derive(Default)]
pub struct ChatApi;

impl Dialect for ChatApi {
    fn is_question(&self, asked: &Asked) -> bool {
        asked.path.split('?').next().is_some_and(|path| path.ends_with("/chat/completions"))
    }

    /// A schema that is called strict and is not is refused by the real service, too.
    fn refusal(&self, asked: &Asked) -> Option<(u16, Value)> {
        let format = &asked.body["response_format"];
        let given = &format["json_schema"];
        if format["type"] != "json_schema" || given["strict"] != true {
            return None;
        }
        let defect = not_strict(&given["schema"], "()")?;
        let message = format!("Invalid schema for response_format {}: {defect}", given["name"]);
        Some((400, error("invalid_request_error", Some("invalid_json_schema"), &message)))
    }

    fn reply(&self, connection: &mut TcpStream, asked: &Asked, act: &Act, n: usize) -> io::Result<()> {
        let said = |text: &str| json!({ "role": "assistant", "content": text });
        let called = |name: &str, arguments: &str| {
            let function = json!({ "name": name, "arguments": arguments });
            let call =
                json!({ "index": 0, "id": format!("call_{n}"), "type": "function", "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        };
        let (message, finish) = match act {
            Act::Use { tool, input } => (called(tool, &input.to_string()), "tool_calls"),
            // A tool that the model must use is stopped at like the end of an answer.
            Act::Raw(raw) => match asked.body["tool_choice"]["function"]["name"].as_str() {
                Some(tool) => (called(tool, raw), "stop"),
                None => (said(raw), "stop"),
            },
            Act::Say { text, stop: "refusal" } => {
                (json!({ "role": "assistant", "content": null, "refusal": text }), "stop")
            }
            Act::Say { text, stop: "end_turn" } => (said(text), "stop"),
            Act::Say { text, stop: "max_tokens" } => (said(text), "length"),
            Act::Say { text, stop } => (said(text), *stop),
            Act::Stopped { raw, stop } => (said(raw), *stop),
            other => unreachable!("{other:?} is no reply"),
        };
        if asked.body["stream"] == true {
            stream(connection, &asked.body, &message, finish)
        } else {
            wire::answer(connection, 200, &[], &whole(message, finish))
        }
    }

    fn error(&self, status: u16, kind: &str, message: &str) -> Value {
        let class = match (status, kind) {
            (_, "insufficient_quota") => "insufficient_quota",
            (429, _) => "requests",
            (500.., _) => "server_error",
            _ => "invalid_request_error",
        };
        error(class, Some(kind).filter(|kind| *kind != class), message)
    }

    fn beginning(&self) -> String {
        [json!({ "role": "assistant", "content": "" }), json!({ "content": "half" })]
            .map(|delta| chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": null }]), &Value::Null))
            .concat()
    }
}

/// An error of the service; its code is the class again where it has no other.
fn error(class: &str, code: Option<&str>, message: &str) -> Value {
    let code = code.or(Some(class).filter(|class| *class == "insufficient_quota"));
    json!({ "error": { "message": message, "type": class, "param": null, "code": code } })
}

/// A streamed reply: the role, the text in two pieces, the end, and the usage where it was asked for.
fn stream(connection: &mut TcpStream, body: &Value, message: &Value, finish: &str) -> io::Result<()> {
    let choice = |delta: Value, finish: Option<&str>| {
        chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), &Value::Null)
    };
    let mut events: String = deltas(message).into_iter().map(|delta| choice(delta, None)).collect();
    events.push_str(&choice(json!({}), Some(finish)));
    if body["stream_options"]["include_usage"] == true {
        events.push_str(&chunk(&json!([]), &usage()));
    }
    events.push_str("data: [DONE]\n\n");
    wire::stream(connection, &events)
}

/// A message as it is streamed: text comes in pieces, everything else at once.
fn deltas(message: &Value) -> Vec<Value> {
    for field in ["content", "refusal"] {
        if let Some(text) = message[field].as_str() {
            let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
            let (first, rest) = text.split_at(middle);
            return vec![
                json!({ "role": "assistant", field: "" }),
                json!({ field: first }),
                json!({ field: rest }),
            ];
        }
    }
    vec![message.clone()]
}

fn chunk(choices: &Value, usage: &Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-test",
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

/// The same reply in one piece, for a program that does not want a stream.
fn whole(mut message: Value, finish: &str) -> Value {
    if let Some(call) = message["tool_calls"][0].as_object_mut() {
        call.remove("index");
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-test",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": usage(),
    })
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 1200,
        "completion_tokens": 57,
        "total_tokens": 1257,
        "prompt_tokens_details": { "cached_tokens": 20 },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    })
}

/// Why a schema is not strict: at every object, every key is required and no other is allowed.
fn not_strict(schema: &Value, context: &str) -> Option<String> {
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != false {
            return Some(format!(
                "In context={context}, 'additionalProperties' is required to be supplied and to be false."
            ));
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if let Some(missing) = properties.keys().find(|key| !required.contains(&key.as_str())) {
            return Some(format!(
                "In context={context}, 'required' is required to be supplied and to be an array including \
                 every key in properties. Missing '{missing}'."
            ));
        }
    }
    match schema {
        Value::Object(inner) => {
            inner.iter().find_map(|(key, value)| not_strict(value, &format!("{context}.{key}")))
        }
        Value::Array(inner) => inner.iter().find_map(|value| not_strict(value, context)),
        _ => None,
    }
}
