//! The bytes of the loopback service: HTTP/1.1 and server-sent events, no more than is used.

use serde_json::Value;
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

/// A whole stream of events.
pub fn stream(connection: &mut TcpStream, body: &str) -> io::Result<()> {
    head(connection, 200, "text/event-stream", body.len())?;
    connection.write_all(body.as_bytes())
}

/// A stream that breaks off.
pub fn cut(connection: &mut TcpStream, beginning: &str) -> io::Result<()> {
    head(connection, 200, "text/event-stream", beginning.len() + 1000)?;
    connection.write_all(beginning.as_bytes())?;
    connection.shutdown(Shutdown::Both)
}

/// One event, with its type as name.
pub fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}
