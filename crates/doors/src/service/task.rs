//! A task, how it stands, and what a review makes of that.

use countersign_core::answer::ReviewResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Nobody works on it.
    Pending,
    /// Somebody does.
    InProgress,
    /// It is done, and nobody has said whether it is good.
    AwaitingReview,
    /// It passed.
    Complete,
    /// It is not done, and need not be.
    Skipped,
    /// A person has to look at it.
    Blocked,
}

impl TaskStatus {
    /// All of them, in the order of a task's life.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::InProgress, Self::AwaitingReview, Self::Complete, Self::Skipped, Self::Blocked];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::AwaitingReview => "awaiting_review",
            Self::Complete => "complete",
            Self::Skipped => "skipped",
            Self::Blocked => "blocked",
        }
    }

    /// A word in either case.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(word.trim()))
    }

    /// Whether the box of the task is ticked.
    pub fn is_ticked(self) -> bool {
        self == Self::Complete
    }
}

/// Where a task is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the plan: its path from the root, and the place of the task among those of its phase.
    Plan {
        /// The plan, relative to the root.
        file: String,
    },
    /// In the ledger.
    Ledger,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What people type: its place in the plan (`1.2`), or the id it was added by.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What belongs to it.
    pub scope: Option<String>,
    /// When it is done.
    pub acceptance: Option<String>,
    /// How it stands.
    pub status: TaskStatus,
    /// Where it is written down.
    pub home: Home,
}

/// What becomes of a task after a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handling {
    /// How the task stands now.
    pub status: TaskStatus,
    /// What people are told, where they are needed.
    pub notification: Option<Notification>,
}

/// What people are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// In a few words.
    pub title: String,
    /// In a sentence.
    pub message: String,
    /// The name of the sound.
    pub sound: String,
}

/// The sound of everything that needs a person.
pub const SOUND: &str = "Basso";

/// What people are told when a task is complete, if they want to know.
pub fn completed(title: &str) -> Notification {
    let message = "Its review approved it".to_owned();
    Notification { title: format!("Task Complete: {title}"), message, sound: SOUND.to_owned() }
}

/// What people are told when the review of a task waits for them. `typed` is what they type for the task.
pub fn person_needed(name: &str, typed: &str) -> Notification {
    let message = format!(
        "Its review waits for a decision: countersign approve {typed} --reason TEXT, or reject, fix, skip"
    );
    Notification { title: format!("Person Needed: {name}"), message, sound: SOUND.to_owned() }
}

/// What people are told when a review came to no verdict.
pub fn no_verdict(title: &str, why: &str) -> Notification {
    let message = format!("The review could not be completed: {why}");
    Notification { title: format!("No Verdict: {title}"), message, sound: SOUND.to_owned() }
}

/// What a review concluded, as the door needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conclusion<'a> {
    /// Its result.
    pub result: ReviewResult,
    /// Whether a person is needed, whatever the attempt.
    pub blocking: bool,
    /// In a sentence.
    pub summary: &'a str,
    /// The failing review this is, from 1.
    pub attempt: u32,
    /// The failing review that blocks.
    pub max_revisions: u32,
}

/// What becomes of a task: complete, back to whoever works on it, or blocked with a notification.
pub fn handle(title: &str, conclusion: Conclusion<'_>) -> Handling {
    let Conclusion { result, blocking, summary, attempt, max_revisions } = conclusion;
    let notify =
        |title: String, message: String| Some(Notification { title, message, sound: SOUND.to_owned() });
    let blocked = |notification| Handling { status: TaskStatus::Blocked, notification };
    match result {
        ReviewResult::Approved if !blocking => Handling { status: TaskStatus::Complete, notification: None },
        ReviewResult::Rejected | ReviewResult::NeedsRevision
            if blocking || result == ReviewResult::Rejected =>
        {
            blocked(notify(format!("Review Rejected: {title}"), format!("Blocking issue found: {summary}")))
        }
        ReviewResult::NeedsRevision if attempt >= max_revisions => blocked(notify(
            format!("Review Failed: {title}"),
            format!("Task needs human review after {attempt} attempts"),
        )),
        ReviewResult::NeedsRevision => Handling { status: TaskStatus::InProgress, notification: None },
        // Neither is a conclusion, so nothing is concluded from it.
        ReviewResult::Approved | ReviewResult::Pending | ReviewResult::Rejected => {
            Handling { status: TaskStatus::AwaitingReview, notification: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_both_cases_and_written_lower() {
        for status in TaskStatus::ALL {
            assert_eq!(TaskStatus::of(status.word()), Some(status));
            assert_eq!(TaskStatus::of(&status.word().to_uppercase()), Some(status));
            assert_eq!(status.word(), status.word().to_lowercase());
        }
        assert_eq!(TaskStatus::of("done"), None);
    }

    /// SVC-7, SVC-8, SVC-9, SVC-14.
    #[test]
    fn svc_7_8_9_14_what_becomes_of_a_task() {
        use ReviewResult::{Approved, NeedsRevision, Pending, Rejected};
        use TaskStatus::{AwaitingReview, Blocked, Complete, InProgress};
        let failed = Some(("Review Failed: T", "Task needs human review after 3 attempts"));
        let rejected = Some(("Review Rejected: T", "Blocking issue found: why"));
        let table = [
            (Approved, false, 1, Complete, None),
            (Approved, false, 9, Complete, None),
            (Approved, true, 1, AwaitingReview, None),
            (Pending, false, 1, AwaitingReview, None),
            (NeedsRevision, false, 1, InProgress, None),
            (NeedsRevision, false, 2, InProgress, None),
            (NeedsRevision, false, 3, Blocked, failed),
            (NeedsRevision, true, 1, Blocked, rejected),
            (Rejected, false, 1, Blocked, rejected),
            (Rejected, true, 3, Blocked, rejected),
        ];
        for (result, blocking, attempt, status, told) in table {
            let conclusion = Conclusion { result, blocking, summary: "why", attempt, max_revisions: 3 };
            let handling = handle("T", conclusion);
            assert_eq!(handling.status, status, "{result:?} {blocking} {attempt}");
            let said = handling.notification.as_ref().map(|n| (n.title.as_str(), n.message.as_str()));
            assert_eq!(said, told, "{result:?} {blocking} {attempt}");
            assert!(handling.notification.is_none_or(|n| n.sound == "Basso"));
        }
    }
}
