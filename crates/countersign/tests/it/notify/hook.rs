//! A service that takes notifications.

use countersign_testkit::{Act, Asked, Dialect};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::net::TcpStream;

#[derive(Default)]
pub struct Hook;

impl Dialect for Hook {
    fn is_question(&self, _asked: &Asked) -> bool {
        true
    }

    fn reply(&self, connection: &mut TcpStream, _asked: &Asked, _act: &Act, _n: usize) -> io::Result<()> {
        connection.write_all(b"HTTP/1.1 204 x\r\n\r\n")
    }

    fn error(&self, status: u16, _kind: &str, _message: &str) -> Value {
        json!({ "status": status })
    }

    fn beginning(&self) -> String {
        String::new()
    }
}
