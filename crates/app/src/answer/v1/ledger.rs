//! What is done with the ledger as a whole.

use crate::time::rfc3339;
use countersign_core::ids::ReviewId;
use countersign_engine::ledger;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What `ledger backup` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Backup {
    /// The new file.
    pub file: PathBuf,
    /// How many events it has; all of them were checked.
    pub events: u64,
}

/// What `ledger export` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Exported {
    /// The new file.
    pub file: PathBuf,
    /// How many events it has.
    pub events: u64,
    /// How many calls it has.
    pub calls: u64,
    /// The hash of the last event, in hex; empty without events.
    pub head: String,
}

/// What `ledger import` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Imported {
    /// Names the import in this ledger.
    pub id: String,
    /// The file, as it was named.
    pub file: String,
    /// How many reviews were imported.
    pub reviews: u64,
    /// How many events were imported.
    pub events: u64,
    /// The hash of the last event of that ledger, in hex.
    pub head: String,
}

impl From<ledger::Import> for Imported {
    fn from(import: ledger::Import) -> Self {
        let ledger::Import { id, file, reviews, events, head, .. } = import;
        Self { id, file, reviews, events, head }
    }
}

/// What `ledger prune` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pruned {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// Reviews that ended before this time were looked at.
    pub before: Option<String>,
    /// The reviews whose events are removed.
    pub reviews: Vec<ReviewId>,
    /// How many events lose their contents.
    pub events: u64,
    /// Old reviews that stay, because failures in them stand on bytes that may come again.
    pub kept_for_failures: u64,
    /// Old reviews that stay, because they were stopped, and their subjects have no later review.
    pub kept_for_stops: u64,
}

impl Pruned {
    pub fn of(pruned: ledger::Pruned, before_ms: i64, dry_run: bool) -> Self {
        let ledger::Pruned { reviews, events, kept_for_failures, kept_for_stops } = pruned;
        Self { dry_run, before: rfc3339(before_ms), reviews, events, kept_for_failures, kept_for_stops }
    }
}

/// Who had the events of reviews removed, and when.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pruning {
    /// When.
    pub at: Option<String>,
    /// Who.
    pub by: String,
    /// Of how many reviews.
    pub reviews: u64,
    #[serde(skip)]
    pub at_ms: i64,
}

impl From<&ledger::Pruning> for Pruning {
    fn from(pruning: &ledger::Pruning) -> Self {
        let (at, reviews) = (rfc3339(pruning.at_ms), pruning.reviews.len() as u64);
        Self { at, by: pruning.by.words(), reviews, at_ms: pruning.at_ms }
    }
}

/// What `ledger rebuild` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Rebuilt {
    /// What differed from the events, and does not any more: tables and rows.
    pub rows: Vec<String>,
}
