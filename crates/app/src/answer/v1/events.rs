//! An event of the ledger as `watch` and the stream over HTTP have it.

use crate::time::rfc3339;
use countersign_engine::ledger::Recorded;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An event of a review or of a door.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Its number in the ledger: what a reader resumes by.
    pub id: u64,
    /// When it was recorded.
    pub at: Option<String>,
    /// The review it belongs to, or the stream of a door.
    pub stream: String,
    /// Its number in the stream, from 1.
    pub n: u64,
    /// Its kind.
    pub kind: String,
    /// The review; null for events of doors.
    pub review: Option<String>,
    /// What the review is about; null for events of doors.
    pub subject: Option<String>,
    /// What happened, as the ledger keeps it.
    pub data: Value,
}

impl From<&Recorded> for Event {
    fn from(event: &Recorded) -> Self {
        Self {
            id: event.seq,
            at: rfc3339(event.at_ms),
            stream: event.stream.clone(),
            n: event.n,
            kind: event.kind.clone(),
            review: event.subject.as_ref().map(|_| event.stream.clone()),
            subject: event.subject.clone(),
            data: serde_json::from_str(&event.body).unwrap_or_default(),
        }
    }
}
