//! What both APIs have in common: a reply comes in events, and only its end makes it one.

use crate::programs::{Kind, Problem, Usage};
use serde_json::Value;

/// A reply as far as it has come.
pub trait StreamReply: Send {
    fn event(&mut self, event: &Value) -> Result<(), Problem>;

    /// Whether the last event was one that ends a reply.
    fn is_over(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize;

    /// What it comes to, now that the stream has ended.
    fn said(&self) -> Result<String, Problem>;

    /// What it cost, as far as is known.
    fn usage(&self) -> Option<Usage>;
}

/// Takes the data of an event. True where it ends the stream.
pub fn take(reading: &mut dyn StreamReply, data: &str) -> Result<bool, Problem> {
    // This is how chat completions end, and no event.
    if data.trim() == "[DONE]" {
        return Ok(true);
    }
    match serde_json::from_str::<Value>(data) {
        Ok(event) if event.is_object() => {
            reading.event(&event)?;
            Ok(reading.is_over())
        }
        _ => Err(Problem::new(
            Kind::Connection,
            &format!("an event of its stream is not a JSON object: {data}"),
        )),
    }
}

pub fn broken_off() -> Problem {
    Problem::new(Kind::Connection, "its reply ended early")
}
