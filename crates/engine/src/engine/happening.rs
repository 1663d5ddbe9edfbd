//! What happens while reviewers work: one stream, many listeners.

use countersign_core::ids::ReviewId;
use countersign_core::outcome::NoVerdict;
use tracing::{debug, info};

/// Something that just happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A round began, or one that was under way is gone on with.
    Round {
        /// The review.
        review: ReviewId,
        /// Its round.
        round: u32,
        /// How many assignments it has.
        assignments: usize,
        /// How many of them are answered already.
        answered: usize,
    },
    /// Somebody else performs the same round; its end is waited for.
    Waiting {
        /// The review.
        review: ReviewId,
    },
    /// A reviewer is being asked.
    Asked {
        /// The review.
        review: ReviewId,
        /// Index of the assignment.
        assignment: usize,
        /// The rule and what it looks at.
        label: String,
        /// Who is asked.
        reviewer: String,
        /// Whether it is asked again, with the defect of its reply.
        again: bool,
    },
    /// A reviewer answered.
    Answered {
        /// The review.
        review: ReviewId,
        /// Index of the assignment.
        assignment: usize,
        /// How many criteria failed.
        failed: usize,
    },
    /// A question got no answer.
    AskFailed {
        /// The review.
        review: ReviewId,
        /// Index of the assignment.
        assignment: usize,
        /// Why.
        why: NoVerdict,
        /// In words.
        detail: String,
    },
}

impl Happening {
    /// Says it in the log: who and how many, never what anybody wrote.
    pub(super) fn log(&self) {
        match self {
            Self::Round { review, round, assignments, answered } => {
                info!(%review, round, assignments, answered, "round begins");
            }
            Self::Waiting { review } => debug!(%review, "waiting for the process that judges it"),
            Self::Asked { review, assignment, label, reviewer, again } => {
                info!(%review, assignment, label, reviewer, again, "asked");
            }
            Self::Answered { review, assignment, failed } => info!(%review, assignment, failed, "answered"),
            Self::AskFailed { review, assignment, why, .. } => {
                info!(%review, assignment, why = why.name(), "no answer");
            }
        }
    }
}
