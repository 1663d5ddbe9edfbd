//! The answers of `run`, `retry`, `output` and `stop`.

use countersign_core::ids::ReviewId;
use countersign_doors::run::schedule::{self, Left};
use countersign_doors::run::task::TaskEnd;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Results {
    /// How each task ended.
    pub tasks: Vec<TaskResult>,
    /// Selected tasks that did not run.
    pub not_run: Vec<NotRun>,
    /// Why the run stopped early.
    pub stopped: Option<String>,
    /// With `integration_pr`, the branch that tasks were merged into instead of the main branch.
    pub branch: Option<String>,
}

/// How a task ended, for now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TaskResult {
    /// Its id.
    pub task: String,
    /// In a word.
    pub state: TaskState,
    /// What it means for the run.
    pub outcome: &'static str,
    /// The commit on the main branch.
    pub commit: Option<String>,
    /// The result of its review.
    pub review_status: Option<String>,
    /// The review.
    #[schemars(with = "Option<String>")]
    pub review: Option<ReviewId>,
    /// Why it failed, in a word.
    pub error_code: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// How a task ended, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It is merged, or uncommitted in the files.
    Success,
    /// It failed for good.
    Failed,
    /// It waits for a person.
    AwaitingPerson,
    /// The run stopped before; the next run continues it.
    #[default]
    Stopped,
}

/// A selected task that did not run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotRun {
    /// Its id.
    pub task: String,
    /// Why.
    pub why: String,
    /// What that means for the run.
    pub outcome: &'static str,
}

impl From<&schedule::Results> for Results {
    fn from(results: &schedule::Results) -> Self {
        let left = |(task, left): (&String, &Left)| {
            let (task, why, outcome) = (task.clone(), left.why.clone(), left.outcome.name());
            NotRun { task, why, outcome }
        };
        Self {
            tasks: results.ends.iter().map(|(task, end)| TaskResult::of(task, end)).collect(),
            not_run: results.left.iter().map(left).collect(),
            stopped: results.stopped.clone(),
            branch: None,
        }
    }
}

impl TaskResult {
    fn of(task: &str, end: &TaskEnd) -> Self {
        let mut result = Self { task: task.to_owned(), outcome: end.outcome().name(), ..Self::default() };
        match end.clone() {
            TaskEnd::Done { commit, review, review_id } => {
                result.state = TaskState::Success;
                result.commit = commit;
                result.review_status = Some(review);
                result.review = review_id;
            }
            TaskEnd::Failed { code, error, .. } => {
                result.state = TaskState::Failed;
                result.error_code = Some(code.word().to_owned());
                result.error = Some(error);
            }
            TaskEnd::Awaits { review } => {
                result.state = TaskState::AwaitingPerson;
                result.review = Some(review);
            }
            TaskEnd::Stopped => {}
        }
        result
    }
}

/// The order in which tasks would run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Order {
    /// Their ids.
    pub order: Vec<String>,
}

/// What agent, tests and reviewers wrote in an attempt at a task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The task.
    pub task: String,
    /// The file it is kept in.
    pub file: PathBuf,
    /// How many attempts have output.
    pub attempts: usize,
    /// What they wrote.
    pub text: String,
}

/// Whether a run was asked to stop.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stop {
    /// Whether one is under way.
    pub stopping: bool,
    /// Which one: its process, command and machine, in words. Left out where none is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}
