//! What came of a dispute.

use countersign_core::ids::ReviewId;
use countersign_core::judge;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What `dispute` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Disputed {
    /// The finding that was disputed, as the ledger keeps it.
    #[schemars(with = "Map<String, Value>")]
    pub finding: judge::Finding,
    /// The review it is in.
    pub review: ReviewId,
    /// Whether the finding stands; null without a verdict.
    pub upheld: Option<bool>,
    /// How it was judged again.
    pub dispute: JudgedAgain,
    /// What to do next, in words.
    pub next: Vec<String>,
    /// What the finding is about, for text.
    #[serde(skip)]
    pub place: String,
    /// How it ended, for text.
    #[serde(skip)]
    pub words: String,
}

/// How a finding was judged again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedAgain {
    /// In which review.
    pub review: ReviewId,
    /// By whom.
    pub reviewer: String,
    /// What was said.
    pub feedback: String,
}
