//! The answer of `ci`.

use super::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

/// What a job of a CI service judged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ci {
    /// What the job runs for.
    pub event: CiEvent,
    /// Why there was nothing to judge, in words; null where there was something.
    pub nothing_to_judge: Option<String>,
    /// The changed files, where no rule is about any of them.
    pub not_covered: Vec<String>,
    /// Who signed the change of gate files; null where none was changed.
    pub gate_files_seen_by: Option<String>,
    /// The review, as `review` answers it; null where there was nothing to judge.
    pub verdict: Option<Verdict>,
}

/// What a job runs for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CiEvent {
    /// `github`, `gitlab` or `git`.
    pub service: &'static str,
    /// The event, as the service calls it.
    pub name: String,
    /// The commit that the work is compared with.
    pub base: Option<String>,
    /// Whether the event names it.
    pub base_from_event: bool,
    /// The commit that is checked out.
    pub head: String,
}
