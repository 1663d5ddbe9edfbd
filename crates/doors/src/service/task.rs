//! A task, its status, the status after a review, and the notifications about it.

use countersign_core::answer::{ReviewResult, Reviewed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The work has not started.
    Pending,
    /// The work has started.
    InProgress,
    /// The work is done and waits for its review.
    AwaitingReview,
    /// The work passed its review.
    Complete,
    /// The task is not needed any more.
    Skipped,
    /// A person has to decide.
    Blocked,
}

impl TaskStatus {
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::InProgress, Self::AwaitingReview, Self::Complete, Self::Skipped, Self::Blocked];

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

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(word.trim()))
    }

    /// Whether the task needs no more work.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Complete | Self::Skipped)
    }

    pub fn is_ticked(self) -> bool {
        self == Self::Complete
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    Plan { file: String },
    Ledger,
}

/// Where scope and acceptance of a task are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// They are as written.
    Own,
    /// The plan has other words by now. These are kept from a source that the author of the work does not write.
    Kept(String),
    /// The plan has them, and no person is known to have seen them.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its place in the plan (`1.2`), or the id it was added by.
    pub id: String,
    pub title: String,
    /// The title by which its reviews and its status are found, also after it was renamed.
    pub known_as: String,
    pub scope: Option<String>,
    pub acceptance: Option<String>,
    /// The status that counts.
    pub status: TaskStatus,
    /// The status that the plan says; none for an added task.
    pub in_file: Option<TaskStatus>,
    /// The status that the ledger has; none where it has none.
    pub recorded: Option<TaskStatus>,
    pub basis: Basis,
    pub home: Home,
}

impl Task {
    /// The status in the plan and the one in the ledger, where one of them ends the task and the other does not say so.
    pub fn disagreement(&self) -> Option<(TaskStatus, TaskStatus)> {
        let in_file = self.in_file?;
        if in_file != self.status {
            return Some((in_file, self.status));
        }
        let recorded = self.recorded.filter(|recorded| recorded.is_end() && !in_file.is_end())?;
        Some((in_file, recorded))
    }
}

/// A notification for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// The title, a few words.
    pub title: String,
    /// The message, one sentence.
    pub message: String,
    /// The name of the sound.
    pub sound: String,
}

pub const SOUND: &str = "Basso";

impl Notification {
    pub(super) fn new(title: String, message: impl Into<String>) -> Self {
        Self { title, message: message.into(), sound: SOUND.to_owned() }
    }
}

pub fn completed(title: &str) -> Notification {
    Notification::new(format!("Task Complete: {title}"), "Its review approved it")
}

/// The notification of a review that waits for a person. `typed` is what they type for the task.
pub fn person_needed(name: &str, typed: &str) -> Notification {
    let message = format!(
        "Its review waits for a decision: countersign approve {typed} --reason TEXT, or reject, fix, skip"
    );
    Notification::new(format!("Person Needed: {name}"), message)
}

pub fn no_verdict(title: &str, why: &str) -> Notification {
    let message = format!("The review could not be completed: {why}");
    Notification::new(format!("No Verdict: {title}"), message)
}

/// The status after a review, with a notification where the task is blocked: by the failing review `max_revisions`.
pub(super) fn status_after(
    title: &str,
    reviewed: &Reviewed,
    attempt: u32,
    max_revisions: u32,
) -> (TaskStatus, Option<Notification>) {
    let blocked = |lead: &str, message: String| {
        (TaskStatus::Blocked, Some(Notification::new(format!("{lead}: {title}"), message)))
    };
    match (reviewed.result, reviewed.blocking) {
        (ReviewResult::Approved, false) => (TaskStatus::Complete, None),
        (ReviewResult::Rejected, _) | (ReviewResult::NeedsRevision, true) => {
            blocked("Review Rejected", format!("Blocking issue found: {}", reviewed.summary))
        }
        (ReviewResult::NeedsRevision, false) if attempt >= max_revisions => {
            blocked("Review Failed", format!("Task needs human review after {attempt} attempts"))
        }
        (ReviewResult::NeedsRevision, false) => (TaskStatus::InProgress, None),
        // Neither is a conclusion.
        (ReviewResult::Approved, true) | (ReviewResult::Pending, _) => (TaskStatus::AwaitingReview, None),
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
            let reviewed = Reviewed { result, issues: vec![], summary: "why".into(), blocking };
            let (found, notification) = status_after("T", &reviewed, attempt, 3);
            assert_eq!(found, status, "{result:?} {blocking} {attempt}");
            let said = notification.as_ref().map(|n| (n.title.as_str(), n.message.as_str()));
            assert_eq!(said, told, "{result:?} {blocking} {attempt}");
            assert!(notification.is_none_or(|n| n.sound == "Basso"));
        }
    }
}
