//! The answers of `task`.

use super::Answer;
use countersign_core::outcome::Outcome;
use countersign_doors::service::event::TaskReview;
use countersign_doors::service::task::{self as door, Home, Notification, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// All tasks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tasks {
    /// Those of the plan, and those that were added.
    pub tasks: Vec<Task>,
    /// Tasks with a running review.
    pub active_reviews: Vec<String>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What the work covers.
    pub scope: Option<String>,
    /// The condition under which it is done.
    pub acceptance: Option<String>,
    /// Its status, by the ledger and the trusted commit.
    pub status: TaskStatus,
    /// The status that the plan says, where it disagrees with the recorded one; null where it does not.
    pub plan_says: Option<TaskStatus>,
    /// The file it is planned in; null if it was added by command.
    pub plan: Option<String>,
    /// Whether a review of it runs.
    pub review_running: bool,
}

impl Task {
    pub fn new(task: &door::Task, review_running: bool) -> Self {
        let plan = match &task.home {
            Home::Plan { file } => Some(file.clone()),
            Home::Ledger => None,
        };
        let plan_says = task.disagreement().map(|(in_file, _)| in_file);
        let door::Task { id, title, scope, acceptance, status, .. } = task.clone();
        Self { id, title, scope, acceptance, status, plan_says, plan, review_running }
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OneTask {
    /// The task.
    pub task: Task,
    /// Its last review.
    pub review: Option<TaskReview>,
    /// How many failing reviews block it; only after a review.
    pub max_revisions: Option<u32>,
    /// The notification to people, if a person is needed.
    pub notification: Option<Notification>,
    /// What to do now.
    pub next: Vec<String>,
}

impl OneTask {
    pub fn new(task: &door::Task) -> Self {
        let task = Task::new(task, false);
        Self { task, review: None, max_revisions: None, notification: None, next: vec![] }
    }

    /// The answer for a reader who only looks: an open task has no outcome.
    pub fn shown(self) -> Answer<Self> {
        let outcome = match self.task.status {
            TaskStatus::Complete => Some(Outcome::Passed),
            TaskStatus::Skipped => Some(Outcome::Skipped),
            _ => None,
        };
        let answer = Answer::new(outcome, self);
        if outcome.is_none() { answer.done() } else { answer }
    }
}
