//! What happens while reviewers and runs work: one stream for screens, notifications and logs.

use crate::ids::ReviewId;
use crate::outcome::NoVerdict;

pub use crate::answer::Remark as Issue;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Agent,
    Tests,
    Lint,
    Review,
    Person,
    Merge,
}

impl Stage {
    pub const ALL: [Self; 6] =
        [Self::Agent, Self::Tests, Self::Lint, Self::Review, Self::Person, Self::Merge];

    /// The name, in words and in what is stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Tests => "tests",
            Self::Lint => "lint",
            Self::Review => "review",
            Self::Person => "person",
            Self::Merge => "merge",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// Something that just happened: to a review, or to a task of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent {
    /// A round began, or one that was under way is gone on with.
    Round {
        review: ReviewId,
        round: u32,
        assignments: usize,
        answered: usize,
    },
    /// Another process performs the same round; its end is waited for.
    Waiting {
        review: ReviewId,
    },
    Asked {
        review: ReviewId,
        assignment: usize,
        /// The rule and what it looks at.
        label: String,
        reviewer: String,
        /// Whether it is asked again, with the defect of its reply.
        again: bool,
    },
    Answered {
        review: ReviewId,
        assignment: usize,
        failed: usize,
    },
    AskFailed {
        review: ReviewId,
        assignment: usize,
        why: NoVerdict,
        detail: String,
    },
    /// A task begins, or goes on.
    Began {
        task: String,
        name: String,
        attempt: u32,
        of: u32,
    },
    Stage {
        task: String,
        stage: Stage,
    },
    Judged {
        task: String,
        verdict: String,
        issues: Vec<Issue>,
    },
    /// A task waits for a person.
    Awaits {
        task: String,
        review: ReviewId,
    },
    Failed {
        task: String,
        error: String,
        again: bool,
    },
    Done {
        task: String,
        review: String,
        /// The commit on the main branch.
        commit: Option<String>,
    },
    /// Something a person should know.
    Warning(String),
}
