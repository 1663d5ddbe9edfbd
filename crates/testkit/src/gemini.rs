//! The Gemini API, as far as the `gemini` program uses it.

use crate::loopback::{Act, Dialect, Loopback};
use crate::wire::{self, Asked};
use serde_json::{Value, json};
use std::io;
use std::net::TcpStream;

/// A service that speaks the Gemini API.
pub type Gemini = Loopback<GeminiApi>;

/// The Gemini API.
#[derive(Default)]
pub struct GeminiApi;

impl Dialect for GeminiApi {
    fn is_question(&self, asked: &Asked) -> bool {
        matches!(method(asked), Some("generateContent" | "streamGenerateContent"))
    }

    fn reply(&self, connection: &mut TcpStream, asked: &Asked, act: &Act, _: usize) -> io::Result<()> {
        let part = match act {
            Act::Use { tool, input } => json!({ "functionCall": { "name": tool, "args": input } }),
            Act::Raw(text) | Act::Stopped { raw: text, .. } => json!({ "text": text }),
            Act::Say { text, .. } => json!({ "text": text }),
            other => unreachable!("{other:?} is no reply"),
        };
        let stop = match act {
            Act::Say { stop, .. } | Act::Stopped { stop, .. } => finish_reason(stop),
            _ => "STOP",
        };
        let body = piece(&part, Some(stop));
        match method(asked) {
            Some("streamGenerateContent") => wire::stream(connection, &data(&body)),
            _ => wire::answer(connection, 200, &[], &body),
        }
    }

    fn error(&self, status: u16, kind: &str, message: &str) -> Value {
        let details: Vec<_> = retry_delay(message)
            .map(|delay| json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay }))
            .into_iter()
            .collect();
        json!({ "error": { "code": status, "message": message, "status": kind, "details": details } })
    }

    fn beginning(&self) -> String {
        data(&piece(&json!({ "text": "half" }), None))
    }

    fn aside(&self, connection: &mut TcpStream, asked: &Asked) -> io::Result<()> {
        match method(asked) {
            Some("countTokens") => wire::answer(connection, 200, &[], &json!({ "totalTokens": 100 })),
            _ => wire::turn_away(connection),
        }
    }
}

/// What is wanted of a model: what follows the colon in `/v1beta/models/x:generateContent?alt=sse`.
fn method(asked: &Asked) -> Option<&str> {
    let path = asked.path.split('?').next()?;
    path.starts_with("/v1beta/models/").then(|| path.rsplit(':').next())?
}

/// Its own words for why a model stops.
fn finish_reason(stop: &'static str) -> &'static str {
    match stop {
        "end_turn" => "STOP",
        "max_tokens" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        other => other,
    }
}

/// As in "Please retry in 30s.", which its errors say in words too.
fn retry_delay(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("Please retry in ")?;
    rest.split([' ', '.']).next()
}

fn piece(part: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": [part], "role": "model" }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 1230,
            "cachedContentTokenCount": 30,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 1287,
        },
        "modelVersion": "gemini-test",
        "responseId": "r1",
    })
}

/// One event; they have no names here.
fn data(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}
