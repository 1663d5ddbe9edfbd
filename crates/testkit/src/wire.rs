//! The bytes of the loopback service: HTTP/1.1 and server-sent events, no more than is used.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A question as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The headers, as they came.
    pub headers: String,
    /// The body; null where it is no JSON.
    pub body: Value,
    /// The body, as it came.
    pub text: String,
}

/// Reads one request; `None` where there is no further one.
pub fn read(connection: &mut TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut headers = String::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|read| *read > 0)?;
        if header.trim().is_empty() {
            break;
        }
        headers.push_str(&header);
    }
    let length = headers.lines().find_map(|header| {
        let (name, value) = header.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut bytes = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Asked { path, headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
}

/// The head of an answer.
pub fn head(connection: &mut TcpStream, status: u16, kind: &str, length: usize) -> io::Result<()> {
    write!(connection, "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n")
}

/// A JSON answer.
pub fn answer(
    connection: &mut TcpStream,
    status: u16,
    headers: &[(&str, String)],
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        connection,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Whatever else a program looks for is not here; the connection ends, so that nothing depends on the method.
pub fn turn_away(connection: &mut TcpStream) -> io::Result<()> {
    head(connection, 404, "text/plain", 0)?;
    connection.shutdown(Shutdown::Both)
}

/// A streamed reply of one block.
pub fn stream(connection: &mut TcpStream, block: &Value, delta: &Value, stop: &str) -> io::Result<()> {
    let mut body = begin(block, delta);
    body.push_str(&event(&json!({ "type": "content_block_stop", "index": 0 })));
    body.push_str(&event(&json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop, "stop_sequence": null },
        "usage": { "output_tokens": 57 },
    })));
    body.push_str(&event(&json!({ "type": "message_stop" })));
    head(connection, 200, "text/event-stream", body.len())?;
    connection.write_all(body.as_bytes())
}

/// A streamed reply that breaks off.
pub fn cut(connection: &mut TcpStream) -> io::Result<()> {
    let body =
        begin(&json!({ "type": "text", "text": "" }), &json!({ "type": "text_delta", "text": "half" }));
    head(connection, 200, "text/event-stream", body.len() + 1000)?;
    connection.write_all(body.as_bytes())?;
    connection.shutdown(Shutdown::Both)
}

/// The same reply in one piece, for a program that does not want a stream.
pub fn whole(block: &Value, delta: &Value, stop: &str) -> Value {
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

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}
