//! The answers of the general tools of the MCP server.

use super::envelope::outcome_and_reason;
use super::{OutcomeName, Row, State, Verdict, Version};
use crate::server_state::ReviewState;
use crate::submit::SubmittedWork;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_engine::ledger::Stored;
use schemars::JsonSchema;
use serde::Serialize;

/// What `review_submit` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Submitted {
    /// The version of this form.
    pub schema: Version,
    /// The handle for review_wait.
    pub review: ReviewId,
    /// What it is about.
    pub subject: Subject,
    /// The round that is about this work.
    pub round: u32,
    /// Whether this joined a running review.
    pub attached: bool,
    /// The state.
    pub state: State,
    /// Null unless the outcome is known already.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The progress.
    pub progress: Progress,
    /// Failing rounds that are left; null where attempts are not counted.
    pub attempts_left: Option<u32>,
    /// What is not judged and why.
    pub warnings: Vec<String>,
    /// What to do now.
    pub next: Vec<String>,
}

impl Submitted {
    pub fn of(SubmittedWork { stored, round, attached, warnings, .. }: SubmittedWork) -> Self {
        let (review, standing) = (&stored.review, stored.review.standing());
        let (outcome, reason) = outcome_and_reason(standing);
        Self {
            schema: Version::One,
            review: review.id.clone(),
            subject: review.subject.clone(),
            round,
            attached,
            state: if standing.is_some() { State::Done } else { State::Running },
            outcome,
            reason,
            progress: (&stored).into(),
            attempts_left: review.policy.attempts_left(review.attempts),
            warnings,
            next: vec![format!("call review_wait with review {}", review.id)],
        }
    }
}

/// How many questions are answered, of how many.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Progress {
    /// Questions that are answered.
    pub answered: usize,
    /// All questions of the round.
    pub questions: usize,
}

impl From<&Stored> for Progress {
    fn from(stored: &Stored) -> Self {
        let Some(round) = stored.review.round() else { return Self { answered: 0, questions: 0 } };
        let done = round.assignments.iter().filter(|assignment| round.answer_to(assignment).is_some());
        Self { answered: done.count(), questions: round.assignments.len() }
    }
}

/// What `review_wait` and `review_decide` answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Waited {
    /// The version of this form.
    pub schema: Version,
    /// The state.
    pub state: State,
    /// Whether the work may continue.
    pub passed: bool,
    /// How it ended; null while it runs.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The exit code a command would have; null while it runs.
    pub exit_code: Option<u8>,
    /// The progress.
    pub progress: Progress,
    /// The review.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Waited {
    pub fn of(followed: &ReviewState, verdict: Verdict) -> Self {
        let standing = followed.stored.review.standing();
        let (outcome, reason) = outcome_and_reason(standing);
        let exit_code = standing.map(Outcome::exit_code);
        let (schema, state, progress) = (Version::One, followed.state, (&followed.stored).into());
        Self { schema, state, passed: exit_code == Some(0), outcome, reason, exit_code, progress, verdict }
    }
}

/// What `review_status` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenReviews {
    /// The version of this form.
    pub schema: Version,
    /// The reviews, newest first.
    pub reviews: Vec<OpenReview>,
    /// Whether more reviews are open.
    pub more: bool,
}

/// A review in `review_status`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenReview {
    /// The review.
    #[serde(flatten)]
    pub row: Row,
    /// The state.
    pub state: State,
    /// The progress.
    pub progress: Progress,
}

impl From<&ReviewState> for OpenReview {
    fn from(followed: &ReviewState) -> Self {
        let ReviewState { state, stored } = followed;
        Self { row: stored.into(), state: *state, progress: stored.into() }
    }
}
