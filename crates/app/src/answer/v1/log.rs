//! History: lists of reviews, and events of the ledger.

use super::envelope::outcome_and_reason;
use super::ledger::Pruning;
use super::{OutcomeName, Review};
use crate::time::rfc3339;
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::review;
use countersign_engine::ledger;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What `log` answers.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Log {
    /// Without an id: reviews, newest first; else null.
    pub reviews: Option<Vec<Row>>,
    /// With an id: its events, oldest first; else null.
    pub events: Option<Vec<Entry>>,
    /// Whether `--limit` left some out.
    pub more: bool,
    /// The `--from` of the next page; null if there is none.
    pub next: Option<u64>,
    /// With `--verify`: how many events there are; else null.
    pub events_verified: Option<u64>,
    /// With `--verify`: what was pruned; else null.
    pub prunings: Option<Vec<Pruning>>,
    /// With `--imported`: reviews of other ledgers; else null. They count for nothing here.
    pub imported: Option<Vec<ImportedRow>>,
    /// The file from which the review of these events was imported; else null.
    pub imported_from: Option<String>,
}

/// A review in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// Which review.
    pub id: ReviewId,
    /// What it is about.
    pub subject: Subject,
    /// The outcome; null while a round runs.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The number of its last round.
    pub round: u32,
    /// Failing rounds so far.
    pub attempts: u32,
    /// The digest of what was submitted.
    pub digest: Option<Digest>,
    /// When it was opened.
    pub opened_at: Option<String>,
    /// When its last event was recorded.
    pub changed_at: Option<String>,
    /// Whether its events were pruned: what it was about and how it ended is all that is known.
    pub pruned: bool,
    #[serde(skip)]
    pub changed_ms: i64,
}

impl From<&ledger::Row> for Row {
    fn from(row: &ledger::Row) -> Self {
        let ledger::Row { id, subject, round, attempts, digest, changed_ms, .. } = row.clone();
        let (outcome, reason) = outcome_and_reason(row.standing);
        let (opened_at, changed_at) = (rfc3339(row.opened_ms), rfc3339(changed_ms));
        let pruned = row.pruned.is_some();
        Self {
            id,
            subject,
            outcome,
            reason,
            round,
            attempts,
            digest,
            opened_at,
            changed_at,
            pruned,
            changed_ms,
        }
    }
}

impl From<&ledger::Stored> for Row {
    fn from(stored: &ledger::Stored) -> Self {
        let Review { id, subject, outcome, reason, round, attempts, digest, opened_at, changed_at, .. } =
            stored.into();
        let (round, changed_ms, pruned) = (round.unwrap_or(0), stored.changed_ms, false);
        Self {
            id,
            subject,
            outcome,
            reason,
            round,
            attempts,
            digest,
            opened_at,
            changed_at,
            pruned,
            changed_ms,
        }
    }
}

/// A review of another ledger.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportedRow {
    /// The review, as it was there.
    #[serde(flatten)]
    pub row: Row,
    /// The file from which it was imported.
    pub from: String,
}

/// A review in a list, as it is now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReviewRow {
    /// The review.
    #[serde(flatten)]
    pub row: Row,
    /// Whether a round began that no process performs any more.
    pub interrupted: bool,
}

/// A page of reviews, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reviews {
    /// The reviews.
    pub reviews: Vec<ReviewRow>,
    /// Whether there are more.
    pub more: bool,
    /// Where the next page begins: `before` of the next request. Null if there is none.
    pub next_before: Option<u64>,
}

/// Events of a review, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Events {
    /// The events.
    pub events: Vec<Entry>,
    /// Whether there are more.
    pub more: bool,
}

/// An event of a review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Its number in the review, from 1.
    pub n: u64,
    /// When it was recorded.
    pub at: Option<String>,
    #[serde(skip)]
    pub at_ms: i64,
    /// What happened, as the ledger keeps it.
    #[schemars(with = "Map<String, Value>")]
    pub event: review::Event,
}

impl From<ledger::Entry> for Entry {
    fn from(entry: ledger::Entry) -> Self {
        Self { n: entry.n, at: rfc3339(entry.at_ms), at_ms: entry.at_ms, event: entry.event }
    }
}

/// An event of a review or of a door, as `watch` and the stream over HTTP have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Its number in the ledger; a reader resumes after it.
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

impl From<&ledger::Recorded> for Event {
    fn from(event: &ledger::Recorded) -> Self {
        let ledger::Recorded { seq: id, stream, n, kind, subject, .. } = event.clone();
        let review = subject.as_ref().map(|_| stream.clone());
        let data = serde_json::from_str(&event.body).unwrap_or_default();
        Self { id, at: rfc3339(event.at_ms), stream, n, kind, review, subject, data }
    }
}
