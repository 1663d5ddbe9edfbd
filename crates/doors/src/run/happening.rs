//! What happens in a run, for whoever shows it.

use super::human::Issue;
use countersign_core::ids::ReviewId;

/// Where a task is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The agent works.
    Agent,
    /// Tests run.
    Tests,
    /// Lint runs.
    Lint,
    /// It is judged.
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

    /// The stage of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A task begins, or goes on.
    Began {
        /// The task.
        task: String,
        /// Its name.
        name: String,
        /// Which attempt it is.
        attempt: u32,
        /// How many there may be.
        of: u32,
    },
    /// A task comes to a stage.
    Stage {
        /// The task.
        task: String,
        /// The stage.
        stage: Stage,
    },
    /// A round was judged.
    Judged {
        /// The task.
        task: String,
        /// The verdict, in words.
        verdict: String,
        /// What was found.
        issues: Vec<Issue>,
    },
    /// A task waits for a person.
    Awaits {
        /// The task.
        task: String,
        /// The review to decide about.
        review: ReviewId,
    },
    /// An attempt did not go through.
    Failed {
        /// The task.
        task: String,
        /// Why, in a line.
        error: String,
        /// Whether there is another attempt.
        again: bool,
    },
    /// A task is merged.
    Done {
        /// The task.
        task: String,
        /// What became of its review.
        review: String,
        /// The commit on the main branch.
        commit: Option<String>,
    },
    /// Something a person should know.
    Warning(String),
}
