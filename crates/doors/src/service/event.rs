//! What happens to reviews of tasks, for whoever watches: notes in a stream of the ledger.

use super::task::{Notification, Task, TaskStatus};
use super::tasks::Tasks;
use countersign_core::answer::ReviewResult;
use countersign_engine::ledger::{Ledger, LedgerError, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stream of the ledger that has them all.
pub const STREAM: &str = "service/events";

/// The record of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReview {
    /// The review in the ledger; none where it did not come to one.
    pub id: Option<String>,
    /// The task.
    pub task_id: String,
    /// The failing review this is or would be, from 1.
    pub attempt: u32,
    /// Its result.
    pub result: ReviewResult,
    /// What it found.
    pub issues: Vec<String>,
    /// In a sentence or two.
    pub summary: String,
    /// Whether a person is needed, whatever the attempt.
    pub blocking: bool,
    /// When it ended, or began while it is pending; UTC, RFC 3339.
    pub reviewed_at: String,
    /// What reviewed.
    pub reviewer_command: String,
    /// What the reviewers said, as it came, without secrets; cut where it is long.
    #[serde(default)]
    pub raw_output: Option<String>,
    /// Why there is no verdict.
    #[serde(default)]
    pub error: Option<String>,
}

/// Something that happened to the review of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceEvent {
    /// One began.
    ReviewStarted(Happened),
    /// One ended in an approval.
    ReviewCompleted(Happened),
    /// One ended in anything else.
    ReviewFailed(Happened),
}

/// What an event tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// What people type for the task.
    pub task_id: String,
    /// What stays the same about it.
    pub subject: String,
    /// What it is called.
    pub title: String,
    /// The project: the name of its folder.
    pub project_id: String,
    /// How the task stands now.
    pub status: TaskStatus,
    /// The review.
    pub review: TaskReview,
    /// What people are told, where they are needed.
    #[serde(default)]
    pub notification: Option<Notification>,
}

impl Happened {
    /// The record of a review that begins.
    pub fn begin(tasks: &Tasks, task: &Task, attempt: u32, at: String, command: &str) -> Self {
        let folder = tasks.root.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            task_id: task.id.clone(),
            subject: tasks.subject(task).as_str().to_owned(),
            title: task.title.clone(),
            project_id: folder.unwrap_or_default(),
            status: task.status,
            review: TaskReview {
                id: None,
                task_id: task.id.clone(),
                attempt,
                result: ReviewResult::Pending,
                issues: vec![],
                summary: String::new(),
                blocking: false,
                reviewed_at: at,
                reviewer_command: command.to_owned(),
                raw_output: None,
                error: None,
            },
            notification: None,
        }
    }
}

impl ServiceEvent {
    /// Its kind in the ledger.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ReviewStarted(_) => "review_started",
            Self::ReviewCompleted(_) => "review_completed",
            Self::ReviewFailed(_) => "review_failed",
        }
    }

    /// What it tells.
    pub fn happened(&self) -> &Happened {
        match self {
            Self::ReviewStarted(happened)
            | Self::ReviewCompleted(happened)
            | Self::ReviewFailed(happened) => happened,
        }
    }

    /// The end of a review: completed is approved and nothing else.
    pub fn ended(happened: Happened) -> Self {
        match happened.review.result {
            ReviewResult::Approved => Self::ReviewCompleted(happened),
            _ => Self::ReviewFailed(happened),
        }
    }

    /// An event as the ledger keeps it; none where it is of another kind.
    pub fn of(note: &Note) -> Option<Self> {
        let happened = serde_json::from_str(&note.body).ok()?;
        match note.kind.as_str() {
            "review_started" => Some(Self::ReviewStarted(happened)),
            "review_completed" => Some(Self::ReviewCompleted(happened)),
            "review_failed" => Some(Self::ReviewFailed(happened)),
            _ => None,
        }
    }

    /// Puts it on record.
    pub async fn record(&self, ledger: &Ledger, at_ms: i64) -> Result<(), LedgerError> {
        let body = serde_json::to_string(self.happened()).unwrap_or_default();
        let mut transaction = ledger.transaction().await?;
        let seen = transaction.last_note(STREAM).await?.map_or(0, |note| note.n);
        transaction.note(STREAM, seen, &[(self.kind(), body)], at_ms).await?;
        transaction.commit().await
    }
}

/// Everything that happened, the oldest first.
pub async fn all(ledger: &Ledger) -> Result<Vec<ServiceEvent>, LedgerError> {
    Ok(ledger.notes(STREAM).await?.iter().filter_map(ServiceEvent::of).collect())
}

/// The last event of every subject, the oldest first.
pub fn latest(events: Vec<ServiceEvent>) -> Vec<ServiceEvent> {
    let mut last: Vec<ServiceEvent> = vec![];
    for event in events {
        last.retain(|other| other.happened().subject != event.happened().subject);
        last.push(event);
    }
    last
}
