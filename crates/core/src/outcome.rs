//! How a review ends, and the exit code of each end. The one table every door uses.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoVerdict {
    /// The reviewer could not be reached, started or finished.
    Unavailable,
    Timeout,
    /// The reply could not be read, or did not answer what was asked.
    Garbled,
    /// The reply said both "passed" and "failed".
    Contradictory,
    Refused,
    TooLong,
    EmptyChange,
    /// What was judged changed meanwhile.
    Stale,
    /// A rule is about a file that no reviewer can see.
    NotSeen,
    /// No reviewer has been asked yet.
    Unverified,
    /// It was not asked, because a budget would not have covered it. An outcome of its own.
    Budget,
}

/// Why a review was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The last allowed attempt failed.
    AttemptsUsedUp,
    /// The same findings came back too often.
    NotConverging,
    Rejected,
    /// A reviewer says that a person has to look at the work before it goes on.
    RejectedByReviewer,
    Withdrawn,
}

/// How a review or a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every blocking criterion of every assignment passed.
    Passed,
    /// A recorded override took the place of the verdict.
    Overridden,
    /// A person or a policy skipped the review.
    Skipped,
    /// The event of a CI job says what changed, and no rule is about any of it.
    NothingToJudge,
    NeedsWork,
    /// The command or the configuration is wrong.
    Usage,
    /// A person has to answer first.
    AwaitingPerson,
    /// There is no ruling; see why.
    NoVerdict(NoVerdict),
    BudgetReached,
    /// No further round; see why.
    Stopped(Stop),
    /// Criteria or ledger changed under us.
    Integrity,
    /// A defect of Countersign, or a failure of the storage.
    Internal,
    Interrupted,
}

/// How a review can be over. Everything else ends commands, not reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// Every blocking criterion of every assignment passed.
    Passed,
    /// A recorded override took the place of the verdict.
    Overridden,
    /// A person or a policy skipped the review.
    Skipped,
    /// There are blocking findings, and there is one round only.
    NeedsWork,
    /// There is no ruling, and there is one round only.
    NoVerdict(NoVerdict),
    /// A budget is used up, and there is one round only.
    BudgetReached,
    /// No further round; see why.
    Stopped(Stop),
}

impl From<Settlement> for Outcome {
    fn from(settlement: Settlement) -> Self {
        match settlement {
            Settlement::Passed => Self::Passed,
            Settlement::Overridden => Self::Overridden,
            Settlement::Skipped => Self::Skipped,
            Settlement::NeedsWork => Self::NeedsWork,
            Settlement::NoVerdict(why) => Self::NoVerdict(why),
            Settlement::BudgetReached => Self::BudgetReached,
            Settlement::Stopped(why) => Self::Stopped(why),
        }
    }
}

impl Settlement {
    /// The settlement that has this outcome; none where a review cannot be over like this.
    pub fn with(outcome: Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Passed => Self::Passed,
            Outcome::Overridden => Self::Overridden,
            Outcome::Skipped => Self::Skipped,
            Outcome::NeedsWork => Self::NeedsWork,
            Outcome::NoVerdict(why) => Self::NoVerdict(why),
            Outcome::BudgetReached => Self::BudgetReached,
            Outcome::Stopped(why) => Self::Stopped(why),
            Outcome::NothingToJudge
            | Outcome::Usage
            | Outcome::AwaitingPerson
            | Outcome::Integrity
            | Outcome::Internal
            | Outcome::Interrupted => return None,
        })
    }
}

impl Outcome {
    /// Every outcome there is, once for each name.
    pub const ALL: [Self; 13] = [
        Self::Passed,
        Self::Overridden,
        Self::Skipped,
        Self::NothingToJudge,
        Self::NeedsWork,
        Self::Usage,
        Self::AwaitingPerson,
        Self::NoVerdict(NoVerdict::Unverified),
        Self::BudgetReached,
        Self::Stopped(Stop::Rejected),
        Self::Integrity,
        Self::Internal,
        Self::Interrupted,
    ];

    pub fn exit_code(self) -> u8 {
        self.row().0
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (u8, &'static str) {
        match self {
            Self::Passed => (0, "passed"),
            Self::Overridden => (0, "overridden"),
            Self::Skipped => (0, "skipped"),
            Self::NothingToJudge => (0, "nothing_to_judge"),
            Self::NeedsWork => (1, "needs_work"),
            Self::Usage => (2, "usage"),
            Self::AwaitingPerson => (3, "awaiting_person"),
            Self::NoVerdict(_) => (4, "no_verdict"),
            Self::BudgetReached => (5, "budget_reached"),
            Self::Stopped(_) => (6, "stopped"),
            Self::Integrity => (7, "integrity"),
            Self::Internal => (8, "internal"),
            Self::Interrupted => (130, "interrupted"),
        }
    }

    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::NoVerdict(why) => Some(why.name()),
            Self::Stopped(why) => Some(why.name()),
            _ => None,
        }
    }

    /// Whether a review that ended so goes on when a person says so: it was stopped by a limit or by a reviewer.
    pub fn waits_for_a_lift(self) -> bool {
        matches!(self, Self::Stopped(Stop::AttemptsUsedUp | Stop::NotConverging | Stop::RejectedByReviewer))
    }

    /// The worst of several outcomes. No verdict is worse than needs work: the findings may not be all there are.
    pub fn worst(outcomes: impl IntoIterator<Item = Self>) -> Option<Self> {
        const ORDER: [u8; 10] = [130, 8, 7, 2, 4, 5, 6, 3, 1, 0];
        let rank = |outcome: &Self| ORDER.iter().position(|code| *code == outcome.exit_code());
        outcomes.into_iter().min_by_key(rank)
    }
}

impl NoVerdict {
    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn words(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Unavailable => ("unavailable", "the reviewer was not available"),
            Self::Timeout => ("timeout", "the reviewer took too long"),
            Self::Garbled => ("garbled", "the reply could not be used"),
            Self::Contradictory => ("contradictory", "the reply contradicted itself"),
            Self::Refused => ("refused", "the reviewer declined to answer"),
            Self::TooLong => ("too_long", "the question or the reply was too long"),
            Self::EmptyChange => ("empty_change", "there was nothing to judge"),
            Self::Stale => ("stale", "the work changed while it was judged"),
            Self::NotSeen => ("not_seen", "no reviewer can see all files"),
            Self::Unverified => ("unverified", "some criteria have no ruling yet"),
            Self::Budget => ("budget", "the budget does not cover the question"),
        }
    }

    /// How a review is over that ends with it.
    pub fn settlement(self) -> Settlement {
        match self {
            Self::Budget => Settlement::BudgetReached,
            why => Settlement::NoVerdict(why),
        }
    }

    pub fn outcome(self) -> Outcome {
        self.settlement().into()
    }

    /// Whether asking once more, with the defect named, may help.
    pub fn is_repairable(self) -> bool {
        matches!(self, Self::Garbled | Self::Contradictory)
    }
}

impl Stop {
    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn words(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::AttemptsUsedUp => ("attempts_used_up", "attempts used up"),
            Self::NotConverging => ("not_converging", "not converging: the same findings came back"),
            Self::Rejected => ("rejected", "rejected by a person"),
            Self::RejectedByReviewer => ("rejected_by_reviewer", "rejected by the reviewer"),
            Self::Withdrawn => ("withdrawn", "withdrawn"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVerdict(why) => write!(f, "no verdict: {}", why.words()),
            Self::Stopped(why) => write!(f, "stopped: {}", why.words()),
            other => f.write_str(&other.name().replace('_', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pass_or_a_recorded_decision_exits_zero() {
        use Outcome as O;
        let table = [
            (O::Passed, 0),
            (O::Overridden, 0),
            (O::Skipped, 0),
            (O::NothingToJudge, 0),
            (O::NeedsWork, 1),
            (O::Usage, 2),
            (O::AwaitingPerson, 3),
            (O::NoVerdict(NoVerdict::Timeout), 4),
            (O::NoVerdict(NoVerdict::EmptyChange), 4),
            (O::BudgetReached, 5),
            (O::Stopped(Stop::AttemptsUsedUp), 6),
            (O::Stopped(Stop::Withdrawn), 6),
            (O::Integrity, 7),
            (O::Internal, 8),
            (O::Interrupted, 130),
        ];
        for (outcome, code) in table {
            assert_eq!(outcome.exit_code(), code, "{outcome}");
        }
    }

    /// Issue 15: a review is over in seven ways, and reads as its outcome does; nothing else settles one.
    #[test]
    fn issue_15_only_seven_outcomes_settle_a_review() {
        use Outcome as O;
        for outcome in [
            O::Passed,
            O::Overridden,
            O::Skipped,
            O::NeedsWork,
            O::NoVerdict(NoVerdict::Garbled),
            O::BudgetReached,
            O::Stopped(Stop::NotConverging),
        ] {
            let written = serde_json::to_string(&outcome).unwrap();
            let settlement: Settlement = serde_json::from_str(&written).unwrap();
            assert_eq!((Outcome::from(settlement), Settlement::with(outcome)), (outcome, Some(settlement)));
            assert_eq!(serde_json::to_string(&settlement).unwrap(), written);
        }
        for outcome in
            [O::NothingToJudge, O::Usage, O::AwaitingPerson, O::Integrity, O::Internal, O::Interrupted]
        {
            let written = serde_json::to_string(&outcome).unwrap();
            assert!(serde_json::from_str::<Settlement>(&written).is_err(), "{written}");
            assert_eq!(Settlement::with(outcome), None);
        }
    }

    #[test]
    fn several_reviews_end_in_the_worst() {
        use Outcome as O;
        let no_verdict = O::NoVerdict(NoVerdict::Garbled);
        assert_eq!(O::worst([O::Passed, O::NeedsWork, no_verdict]), Some(no_verdict));
        assert_eq!(O::worst([O::Passed, O::NeedsWork, O::AwaitingPerson]), Some(O::AwaitingPerson));
        assert_eq!(O::worst([O::Passed]), Some(O::Passed));
        assert_eq!(O::worst([]), None);
    }
}
