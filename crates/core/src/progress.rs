//! What happens while reviewers and runs work: one stream for screens, notifications and logs.

use crate::criterion::Severity;
use crate::ids::ReviewId;
use crate::outcome::NoVerdict;

/// Where a task is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The agent works.
    Agent,
    /// Tests run.
    Tests,
    /// Lint runs.
    Lint,
    /// Reviewers judge.
    Review,
    /// A person has the last word.
    Person,
    /// It is committed and merged.
    Merge,
}

impl Stage {
    /// All of them, in order.
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

/// What a person sees of one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong.
    pub text: String,
    pub place: Option<String>,
}

/// Something that just happened: to a review, or to a task of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent {
    /// A round began, or one that was under way is gone on with.
    Round {
        review: ReviewId,
        round: u32,
        assignments: usize,
        /// How many of them are answered already.
        answered: usize,
    },
    /// Another process performs the same round; its end is waited for.
    Waiting { review: ReviewId },
    /// A reviewer is being asked.
    Asked {
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
        review: ReviewId,
        /// Index of the assignment.
        assignment: usize,
        /// How many criteria failed.
        failed: usize,
    },
    /// A question got no answer.
    AskFailed {
        review: ReviewId,
        /// Index of the assignment.
        assignment: usize,
        why: NoVerdict,
        detail: String,
    },
    /// A task begins, or goes on.
    Began { task: String, name: String, attempt: u32, of: u32 },
    /// A task comes to a stage.
    Stage { task: String, stage: Stage },
    /// A round was judged.
    Judged {
        task: String,
        verdict: String,
        /// What was found.
        issues: Vec<Issue>,
    },
    /// A task waits for a person.
    Awaits {
        task: String,
        /// The review to decide about.
        review: ReviewId,
    },
    /// An attempt did not go through.
    Failed {
        task: String,
        /// Why, in a line.
        error: String,
        /// Whether there is another attempt.
        again: bool,
    },
    /// A task is merged.
    Done {
        task: String,
        /// What became of its review.
        review: String,
        /// The commit on the main branch.
        commit: Option<String>,
    },
    /// Something a person should know.
    Warning(String),
}
