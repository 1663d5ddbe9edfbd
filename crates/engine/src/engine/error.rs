//! What can go wrong, classed once.

use crate::fresh::NoRandom;
use crate::ledger::LedgerError;
use crate::workspace::{ChangeError, PathProblem};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::plan::PlanError;
use countersign_core::review::Refused;

pub(super) type Result<T, E = EngineError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Path(#[from] PathProblem),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A self-review that was handed in is not complete.
    #[error("the results cannot be used: {0}")]
    Results(String),
    #[error("there is no review `{0}`")]
    NotFound(String),
    /// Another process performs the review, and does not go on.
    #[error("{0}")]
    HeldUp(String),
    #[error("interrupted; finished rulings are kept")]
    Interrupted,
    /// A file or folder of ours could not be read or written.
    #[error("{what}: {error}")]
    Io { what: String, error: std::io::Error },
    #[error("{0}")]
    Internal(String),
}

impl From<NoRandom> for EngineError {
    fn from(error: NoRandom) -> Self {
        Self::Internal(error.to_string())
    }
}

impl EngineError {
    /// An I/O error with what was being done.
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Path(_) | Self::Plan(_) | Self::Results(_) | Self::NotFound(_) => Outcome::Usage,
            Self::Change(error) => error.outcome(),
            Self::Ledger(error) => error.outcome(),
            Self::Refused(refused) => match refused {
                // A refused action did not happen, even if the review passed.
                Refused::Settled(outcome) if outcome.exit_code() == 0 => Outcome::Usage,
                Refused::Settled(outcome) => *outcome,
                Refused::CoolingOff { .. } => Outcome::NoVerdict(NoVerdict::Unavailable),
                Refused::Stale => Outcome::NoVerdict(NoVerdict::Stale),
                _ => Outcome::Usage,
            },
            Self::HeldUp { .. } => Outcome::NoVerdict(NoVerdict::Unavailable),
            Self::Interrupted => Outcome::Interrupted,
            Self::Io { .. } | Self::Internal(_) => Outcome::Internal,
        }
    }
}
