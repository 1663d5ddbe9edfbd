//! Why the gate gives no verdict.

use super::{CliError, QualityGate, ReviewResult};
use crate::engine::EngineError;
use crate::workspace::{Changed, PathProblem};
use countersign_core::answer::Defect;
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::PlanError;
use countersign_core::review::Failure;
use countersign_core::submission::OutputKind;
use countersign_core::text;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why the gate gives no verdict. None of these is a failed review: that is a result.
#[derive(Debug, thiserror::Error)]
pub enum QualityGateError {
    #[error("the quality gate has no reviewer CLI: it can only build review instructions")]
    NoCli,
    /// The CLI gave no structured output.
    #[error("the reviewer CLI failed: {0}")]
    Cli(#[from] CliError),
    #[error("the reviewer CLI did not answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// Structured output that is no reply.
    #[error("the reply cannot be interpreted: {0}")]
    Uninterpretable(Defect),
    /// The second reply does not answer what was asked either.
    #[error("the reviewer was asked twice, and the reply could not be used: {0}")]
    Unusable(String),
    #[error("there is no verdict: {0}")]
    NoVerdict(String),
    /// Two criteria that a reply could not tell apart.
    #[error("criteria '{first}' and '{second}' have the same name")]
    DoubledCriterion { first: String, second: String },
    /// A review of nothing there is.
    #[error("`run_each: {run_each}` is neither `step` nor an output; outputs: {}", known.join(", "))]
    UnknownRunEach { run_each: String, known: Vec<String> },
    /// The reviews cannot be planned for another reason.
    #[error(transparent)]
    Plan(PlanError),
    /// One path where a list was declared, or the reverse.
    #[error("output '{output}' is declared as {}", match declared {
        OutputKind::File => "one file, and was given a list",
        OutputKind::Files => "a list of files, and was given one path",
    })]
    WrongKind { output: String, declared: OutputKind },
    #[error(transparent)]
    Path(#[from] PathProblem),
    /// A file changed while the question was put together.
    #[error(transparent)]
    Changed(#[from] Changed),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("could not look at the files: {0}")]
    Files(#[from] io::Error),
    #[error("{0}")]
    Unfinished(Unfinished),
}

impl QualityGateError {
    /// Why an evaluation of this many files has no verdict: it failed, or its files changed meanwhile.
    pub(super) fn of(failure: Option<&Failure>, files: usize) -> Self {
        let Some(Failure { why, detail, .. }) = failure else {
            return Self::NoVerdict("a file changed while it was being judged".to_owned());
        };
        match why {
            NoVerdict::Unavailable => Self::Cli(CliError(detail.clone())),
            NoVerdict::Timeout => Self::TimedOut(QualityGate::compute_timeout(files)),
            NoVerdict::Garbled | NoVerdict::Contradictory => Self::Unusable(detail.clone()),
            _ => Self::NoVerdict(detail.clone()),
        }
    }

    pub(super) fn unplannable(error: PlanError) -> Self {
        let visible = |name: String| text::visible_line(&name).into_owned();
        match error {
            PlanError::UnknownOutput { output, known, .. } => Self::UnknownRunEach {
                run_each: visible(output),
                known: known.into_iter().map(visible).collect(),
            },
            other => Self::Plan(other),
        }
    }
}

/// What there is when some evaluations came to no verdict: paid answers are not thrown away.
#[derive(Debug)]
pub struct Unfinished {
    /// Every verdict, passed or failed.
    pub verdicts: Vec<ReviewResult>,
    /// Every evaluation without one; at least one.
    pub unanswered: Vec<Unanswered>,
}

impl Unfinished {
    /// The failed reviews: these can be worked on already.
    pub fn failed(&self) -> impl Iterator<Item = &ReviewResult> {
        self.verdicts.iter().filter(|verdict| !verdict.passed)
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.verdicts.len() + self.unanswered.len();
        let reasons: Vec<_> = self.unanswered.iter().map(Unanswered::to_string).collect();
        write!(f, "evaluations without a verdict: {} of {all}: {}", reasons.len(), reasons.join("; "))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", text::visible_line(target_file.as_ref().unwrap_or(review_run_each)))]
pub struct Unanswered {
    pub review_run_each: String,
    /// The file, where files are reviewed one by one.
    pub target_file: Option<String>,
    pub error: QualityGateError,
}
