//! The shapes of answers about tasks, for the description alone.
#![expect(dead_code, reason = "they describe; nothing is made of them")]

use schemars::JsonSchema;
use serde::Serialize;

/// All tasks.
#[derive(Serialize, JsonSchema)]
pub struct Tasks {
    tasks: Vec<Task>,
    /// The ids of those whose review is under way.
    active_reviews: Vec<String>,
}

/// One task.
#[derive(Serialize, JsonSchema)]
pub struct OneTask {
    task: Task,
    /// Its last review.
    review: Option<TaskReview>,
    /// The failing review that blocks it, where one was held just now.
    max_revisions: Option<u32>,
    /// What people were told, where they are needed.
    notification: Option<Notification>,
    next: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Task {
    id: String,
    title: String,
    scope: Option<String>,
    acceptance: Option<String>,
    status: TaskStatus,
    /// The file it is planned in; null where it was added by command.
    plan: Option<String>,
    review_running: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskStatus {
    Pending,
    InProgress,
    AwaitingReview,
    Complete,
    Skipped,
    Blocked,
}

#[derive(Serialize, JsonSchema)]
struct TaskReview {
    id: Option<String>,
    task_id: String,
    attempt: u32,
    result: TaskResult,
    issues: Vec<String>,
    summary: String,
    blocking: bool,
    reviewed_at: String,
    reviewer_command: String,
    raw_output: Option<String>,
    error: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskResult {
    Pending,
    Approved,
    NeedsRevision,
    Rejected,
}

#[derive(Serialize, JsonSchema)]
struct Notification {
    title: String,
    message: String,
    sound: String,
}
