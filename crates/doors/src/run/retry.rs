//! The command `retry`: whether a person rejected the task, and its reset.

use super::checkpoint::Checkpoint;
use super::record::Entry;
use super::run::{Run, RunError};
use super::state::{ErrorCode, TaskState};
use super::tasks::Status;
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::review::Review;
use countersign_engine::engine::EngineError;

impl Run {
    pub async fn was_rejected(&self, task: &str) -> Result<bool, RunError> {
        if self.tasks.read()?.get(task).is_none() {
            return Err(RunError::NoTask(task.to_owned()));
        }
        let attempts = self.state.attempts(task, 1).await?;
        Ok(attempts.first().is_some_and(|(_, last)| last.error_code == Some(ErrorCode::ReviewRejected)))
    }

    /// The latest review of a task, where it is stopped and can go on.
    pub async fn stopped_review(&self, task: &str) -> Result<Option<Review>, RunError> {
        let latest =
            self.engine.ledger().latest_for(&self.layout.subject(task)).await.map_err(EngineError::from)?;
        let stopped = |review: &Review| matches!(review.standing(), Some(Outcome::Stopped(why)) if why != Stop::Withdrawn);
        Ok(latest.map(|stored| stored.review).filter(stopped))
    }

    /// Lets a task run again with all its attempts. `fresh` deletes its work first.
    pub async fn begin_again(&self, task: &str, fresh: bool) -> Result<(), RunError> {
        match Checkpoint::load(&self.state, task).await? {
            Some(checkpoint) if fresh => self.repo.discard(&checkpoint.place).await?,
            Some(checkpoint) => self.save(task, &checkpoint.with_all_attempts()).await?,
            None => {}
        }
        if fresh {
            Checkpoint::forget(&self.state, task).await?;
        }
        self.record(Entry::RunReopened { task: task.to_owned() }).await?;
        let at = (self.now)();
        self.state.set_status(task, &TaskState::Pending, &at).await?;
        Ok(self.tasks.set(task, Status::Todo, &at)?)
    }
}
