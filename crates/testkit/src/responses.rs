//! OpenAI's Responses API, as far as agent programs use it: always streamed.

use crate::loopback::{Act, Dialect, Loopback};
use crate::wire::{self, Asked, event};
use serde_json::{Value, json};
use std::io;
use std::net::TcpStream;

/// A service that speaks the Responses API.
pub type Responses = Loopback<ResponsesApi>;

/// The Responses API.
#[derive(Default)]
pub struct ResponsesApi;

impl Dialect for ResponsesApi {
    fn is_question(&self, asked: &Asked) -> bool {
        asked.path.split('?').next() == Some("/v1/responses")
    }

    /// A schema that leaves a key open is refused, as by the real service.
    fn refusal(&self, asked: &Asked) -> Option<(u16, Value)> {
        let format = &asked.body["text"]["format"];
        let wrong = (format["type"] == "json_schema").then(|| defect(&format["schema"], "root"))??;
        let message = format!("Invalid schema for response_format 'codex_output_schema': {wrong}");
        Some((400, self.error(400, "invalid_json_schema", &message)))
    }

    fn reply(&self, connection: &mut TcpStream, asked: &Asked, act: &Act, n: usize) -> io::Result<()> {
        let (item, incomplete) = match act {
            Act::Use { tool, input } => (used(&asked.body, tool, input, n), None),
            Act::Raw(text) => (message(&said(text)), None),
            Act::Say { text, stop: "refusal" } => {
                (message(&json!({ "type": "refusal", "refusal": text })), None)
            }
            Act::Say { text, stop: "max_tokens" } => (message(&said(text)), Some("max_output_tokens")),
            Act::Say { text, .. } => (message(&said(text)), None),
            other => unreachable!("{other:?} is no reply"),
        };
        let mut body = begin(&item);
        body.push_str(&event(
            &json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        ));
        body.push_str(&event(&end(&item, incomplete)));
        wire::stream(connection, &body)
    }

    fn error(&self, status: u16, kind: &str, message: &str) -> Value {
        let class = if matches!(status, 400..=404) { "invalid_request_error" } else { kind };
        json!({ "error": { "message": message, "type": class, "param": null, "code": kind } })
    }

    fn beginning(&self) -> String {
        begin(&message(&said("half")))
    }
}

/// What the real service would not take about a schema.
fn defect(schema: &Value, place: &str) -> Option<String> {
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != false {
            return Some(format!("at {place}, 'additionalProperties' is required to be false"));
        }
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        if let Some(open) = properties.keys().find(|name| !required.contains(&&json!(name))) {
            return Some(format!("at {place}, 'required' must hold every key, and '{open}' is missing"));
        }
        return properties.iter().find_map(|(name, inner)| defect(inner, &format!("{place}.{name}")));
    }
    schema.get("items").and_then(|items| defect(items, &format!("{place}.items")))
}

fn said(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [] })
}

fn message(content: &Value) -> Value {
    json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content] })
}

/// A tool takes a text, or named arguments. One that is offered in a namespace is used by both names.
fn used(body: &Value, tool: &str, input: &Value, n: usize) -> Value {
    let call = format!("call_{n}");
    match input.as_str() {
        Some(text) => {
            json!({ "type": "custom_tool_call", "id": "ctc_1", "call_id": call, "name": tool, "input": text })
        }
        None => json!({
            "type": "function_call", "id": "fc_1", "call_id": call, "name": tool, "namespace": namespace(body, tool),
            "arguments": input.to_string(),
        }),
    }
}

/// The namespace that a tool is offered in, as those of MCP servers are.
fn namespace<'b>(body: &'b Value, tool: &str) -> Option<&'b str> {
    let mut spaces = body["tools"].as_array()?.iter();
    let holds = |space: &Value| {
        space["tools"].as_array().is_some_and(|tools| tools.iter().any(|one| one["name"] == tool))
    };
    spaces.find(|space| holds(space))?["name"].as_str()
}

fn begin(item: &Value) -> String {
    let mut added = item.clone();
    let text = item["content"][0]["text"].as_str();
    if item["type"] == "message" {
        added["content"] = json!([]);
    }
    let delta = text.map(|text| {
        json!({
            "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
            "delta": text,
        })
    });
    let created =
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } });
    let added = json!({ "type": "response.output_item.added", "output_index": 0, "item": added });
    [created, added].into_iter().chain(delta).map(|value| event(&value)).collect()
}

fn end(item: &Value, incomplete: Option<&str>) -> Value {
    let status = if incomplete.is_some() { "incomplete" } else { "completed" };
    json!({
        "type": format!("response.{status}"),
        "response": {
            "id": "resp_1",
            "status": status,
            "output": [item],
            "incomplete_details": incomplete.map(|reason| json!({ "reason": reason })),
            "usage": {
                "input_tokens": 1200,
                "input_tokens_details": { "cached_tokens": 20 },
                "output_tokens": 57,
                "output_tokens_details": { "reasoning_tokens": 7 },
                "total_tokens": 1257,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_schema_is_refused_wherever_it_is_open() {
        let inner =
            json!({ "type": "object", "properties": { "b": { "type": "string" } }, "required": ["b"] });
        let closed = |inner: Value| {
            json!({
                "type": "object", "required": ["a"], "additionalProperties": false,
                "properties": { "a": { "type": ["array", "null"], "items": inner } },
            })
        };
        let mut good = inner.clone();
        good["additionalProperties"] = json!(false);
        let mut optional = good.clone();
        optional["required"] = json!([]);
        assert_eq!(defect(&closed(good), "root"), None);
        assert!(defect(&closed(inner), "root").unwrap().contains("root.a.items"));
        assert!(defect(&closed(optional), "root").unwrap().contains("'b' is missing"));
    }
}
