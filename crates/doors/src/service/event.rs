//! Events of task reviews: notes in one stream of the ledger.

use super::task::{Notification, Task, TaskStatus};
use super::tasks::Tasks;
use countersign_core::answer::ReviewResult;
use countersign_core::ids::Subject;
use countersign_engine::ledger::{Ledger, LedgerError, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const STREAM: &str = "service/events";
pub const OFF: &str = "`review.enabled` is false: no reviewer was asked";

/// The record of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReview {
    /// The review in the ledger; null if there is none.
    pub id: Option<String>,
    /// The task.
    pub task_id: String,
    /// The number of this review among the failing ones, from 1.
    pub attempt: u32,
    /// Its result.
    pub result: ReviewResult,
    /// The issues it found.
    pub issues: Vec<String>,
    /// A summary of one or two sentences.
    pub summary: String,
    /// Whether a person is needed, independent of the attempt.
    pub blocking: bool,
    /// When it ended; while it is pending, when it began. UTC, RFC 3339.
    pub reviewed_at: String,
    /// The review command.
    pub reviewer_command: String,
    /// The output of the reviewers, without secrets; long output is cut.
    #[serde(default)]
    pub raw_output: Option<String>,
    /// Why there is no verdict.
    #[serde(default)]
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceEvent {
    ReviewStarted(Happened),
    /// A review approved the work.
    ReviewCompleted(Happened),
    /// A review ended in any other way.
    ReviewFailed(Happened),
    /// The work was accepted without a review, because reviews are off.
    ReviewSkipped(Happened),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    pub task_id: String,
    pub subject: String,
    pub title: String,
    /// The name of the project's folder.
    pub project_id: String,
    pub status: TaskStatus,
    pub review: TaskReview,
    #[serde(default)]
    pub notification: Option<Notification>,
}

impl Happened {
    pub(super) fn begin(tasks: &Tasks, task: &Task, attempt: u32, at: String, command: &str) -> Self {
        let folder = tasks.root.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            task_id: task.id.clone(),
            subject: tasks.subject(task).as_str().to_owned(),
            title: task.known_as.clone(),
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
    fn kind(&self) -> &'static str {
        match self {
            Self::ReviewStarted(_) => "review_started",
            Self::ReviewCompleted(_) => "review_completed",
            Self::ReviewFailed(_) => "review_failed",
            Self::ReviewSkipped(_) => "review_skipped",
        }
    }

    pub fn happened(&self) -> &Happened {
        match self {
            Self::ReviewStarted(happened)
            | Self::ReviewCompleted(happened)
            | Self::ReviewFailed(happened)
            | Self::ReviewSkipped(happened) => happened,
        }
    }

    /// The end of a review: completed only where it approved the work.
    pub(super) fn ended(happened: Happened) -> Self {
        match happened.review.result {
            ReviewResult::Approved => Self::ReviewCompleted(happened),
            _ => Self::ReviewFailed(happened),
        }
    }

    pub fn of(note: &Note) -> Option<Self> {
        let happened = serde_json::from_str(&note.body).ok()?;
        match note.kind.as_str() {
            "review_started" => Some(Self::ReviewStarted(happened)),
            "review_completed" => Some(Self::ReviewCompleted(happened)),
            "review_failed" => Some(Self::ReviewFailed(happened)),
            "review_skipped" => Some(Self::ReviewSkipped(happened)),
            _ => None,
        }
    }

    pub(super) async fn record(&self, ledger: &Ledger, at_ms: i64) -> Result<(), LedgerError> {
        let body = serde_json::to_string(self.happened()).unwrap_or_default();
        let mut transaction = ledger.transaction().await?;
        let seen = transaction.last_note(STREAM).await?.map_or(0, |note| note.n);
        transaction.note(STREAM, seen, &[(self.kind(), body)], at_ms).await?;
        transaction.commit().await
    }
}

impl ServiceEvent {
    /// Records the end of a review by a decision, unless the last event of its subject is this one. Whether it did.
    pub(super) async fn record_once(&self, ledger: &Ledger, at_ms: i64) -> Result<bool, LedgerError> {
        let happened = self.happened();
        let mut transaction = ledger.transaction().await?;
        let notes = transaction.notes(STREAM).await?;
        let is_told = notes
            .iter()
            .rev()
            .filter_map(Self::of)
            .find(|last| last.happened().subject == happened.subject)
            .is_some_and(|last| {
                let last = &last.happened().review;
                (last.result, &last.id) == (happened.review.result, &happened.review.id)
            });
        if is_told {
            return Ok(false);
        }
        let body = serde_json::to_string(happened).unwrap_or_default();
        transaction.note(STREAM, notes.len() as u64, &[(self.kind(), body)], at_ms).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Records that a task is complete without a review, because `review.enabled` is false.
pub async fn record_unreviewed(tasks: &Tasks, task: &Task, now: (i64, String)) -> Result<(), LedgerError> {
    let (at_ms, at) = now;
    let mut happened = Happened::begin(tasks, task, 0, at, "");
    happened.status = TaskStatus::Complete;
    happened.review.summary = OFF.to_owned();
    ServiceEvent::ReviewSkipped(happened).record(&tasks.ledger, at_ms).await
}

pub(super) async fn all(ledger: &Ledger) -> Result<Vec<ServiceEvent>, LedgerError> {
    Ok(ledger.notes(STREAM).await?.iter().filter_map(ServiceEvent::of).collect())
}

pub async fn latest_of(ledger: &Ledger, subject: &Subject) -> Result<Option<ServiceEvent>, LedgerError> {
    let of_subject = |event: &ServiceEvent| event.happened().subject == subject.as_str();
    Ok(all(ledger).await?.into_iter().rfind(of_subject))
}

/// The last event of every subject, the oldest first.
pub(super) fn latest(events: Vec<ServiceEvent>) -> Vec<ServiceEvent> {
    let mut last: Vec<ServiceEvent> = vec![];
    for event in events {
        last.retain(|other| other.happened().subject != event.happened().subject);
        last.push(event);
    }
    last
}
