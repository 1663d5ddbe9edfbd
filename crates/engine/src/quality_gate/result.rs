//! Verdicts, in the words of the source document.

use super::CriterionResult;
use countersign_core::answer::{Answer, NO_CRITERIA};
use serde::Serialize;

pub use countersign_core::answer::Reply as QualityGateResult;

/// The verdict of a review without criteria.
pub(super) fn no_criteria() -> QualityGateResult {
    QualityGateResult { passed: true, feedback: NO_CRITERIA.to_owned(), criteria_results: vec![] }
}

/// The verdict of a valid answer: its rulings decide, not its overall result.
pub(super) fn verdict_of(answer: Answer) -> QualityGateResult {
    QualityGateResult { passed: !answer.fails(), feedback: answer.feedback, criteria_results: answer.rulings }
}

/// The verdict of one evaluation of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewResult {
    /// The review's `run_each`.
    pub review_run_each: String,
    /// The file, where the files of a `files` output are reviewed one by one.
    pub target_file: Option<String>,
    pub passed: bool,
    /// What there is to say about the whole.
    pub feedback: String,
    /// The rulings by criterion; empty where a failing reply gave none.
    pub criteria_results: Vec<CriterionResult>,
}

impl ReviewResult {
    pub(super) fn new(
        review_run_each: String,
        target_file: Option<String>,
        result: QualityGateResult,
    ) -> Self {
        let QualityGateResult { passed, feedback, criteria_results } = result;
        Self { review_run_each, target_file, passed, feedback, criteria_results }
    }
}
