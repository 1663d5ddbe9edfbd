//! The arguments of the tools `start_workflow` and `finished_step`. The doc comments are in the tools' schemas.

use super::answer::Paths;
use countersign_core::answer::Row;
use countersign_core::ids::Token;
use countersign_engine::engine::SelfReviewResults;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A call of `start_workflow`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartCall {
    /// The goal of the user.
    pub goal: String,
    /// The job, as get_workflows names it.
    pub job_name: String,
    /// The workflow, as get_workflows names it.
    pub workflow_name: String,
    /// Your session to continue; without it, a new session begins.
    pub session_id: Option<String>,
    /// For subagents: your own name, the same in every call.
    pub agent_id: Option<String>,
}

/// A call of `finished_step`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinishedCall {
    /// Every output of the step by name: a path, or a list of paths where its type is `files`.
    #[schemars(with = "BTreeMap<String, Paths>")]
    pub outputs: Map<String, Value>,
    /// The session, as start_workflow gave it.
    pub session_id: Option<String>,
    /// The step; needed if several are open.
    pub step_id: Option<String>,
    /// What reviewers should know beyond the files.
    pub notes: Option<String>,
    /// Why the step should pass without an independent review, or how the self-review went.
    pub quality_review_override_reason: Option<String>,
    /// The results of a self-review, as its instructions file describes them.
    pub self_review: Option<SelfReview>,
    /// For subagents: your own name.
    pub agent_id: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfReview {
    /// The token from the instructions file.
    #[schemars(with = "String")]
    pub token: Token,
    /// A result for every criterion.
    pub results: Vec<SelfReviewResult>,
}

// Unlike the rows of `countersign rule` it has no findings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfReviewResult {
    /// The review it belongs to, as the instructions file names it; optional if that is clear.
    pub rule: Option<String>,
    /// The file it is about, if files are reviewed one by one.
    pub file: Option<String>,
    /// The criterion.
    pub criterion: String,
    /// Whether it is met.
    pub passed: bool,
    /// The feedback on it.
    pub feedback: Option<String>,
}

impl From<SelfReview> for SelfReviewResults {
    fn from(SelfReview { token, results }: SelfReview) -> Self {
        let row = |one: SelfReviewResult| {
            let SelfReviewResult { rule, file, criterion, passed, feedback } = one;
            Row { rule, file, criterion, passed, feedback, findings: vec![] }
        };
        Self { token, results: results.into_iter().map(row).collect() }
    }
}
