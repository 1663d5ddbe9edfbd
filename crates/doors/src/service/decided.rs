//! The status of a task after a person decided about its review.

use super::error::ServiceError;
use super::event::{self, Happened, ServiceEvent};
use super::task::{Task, TaskStatus};
use super::tasks::Tasks;
use countersign_core::answer::ReviewResult;
use countersign_core::ids::Subject;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::review::{Review, State};

const PERSON: &str = "a person";

pub async fn task_of(tasks: &Tasks, subject: &Subject) -> Result<Option<Task>, ServiceError> {
    Ok(tasks.list().await?.into_iter().find(|task| tasks.subject(task) == *subject))
}

/// Sets the status of a task after a decision. An event that is recorded already is not recorded again.
pub async fn after_decision(
    tasks: &Tasks,
    task: &mut Task,
    review: &Review,
    now: (i64, String),
) -> Result<Option<Happened>, ServiceError> {
    let (at_ms, at) = now;
    let (result, status) = match review.state {
        State::Settled(Settlement::Passed) if review.decisions.is_empty() => return Ok(None),
        State::Settled(Settlement::Overridden | Settlement::Skipped | Settlement::Passed) => {
            (ReviewResult::Approved, TaskStatus::Complete)
        }
        State::Settled(Settlement::Stopped(Stop::Rejected)) => (ReviewResult::Rejected, TaskStatus::Blocked),
        State::NeedsWork if matches!(task.status, TaskStatus::Blocked | TaskStatus::AwaitingReview) => {
            tasks.set(task, TaskStatus::InProgress, None, at_ms).await?;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let last = event::latest_of(&tasks.ledger, &tasks.subject(task)).await?;
    let told = last
        .as_ref()
        .map(|event| &event.happened().review)
        .is_some_and(|last| last.result == result && last.id.as_deref() == Some(review.id.as_str()));
    let mut happened = Happened::begin(tasks, task, review.attempts.max(1), at, PERSON);
    if !told {
        happened.review.id = Some(review.id.to_string());
        happened.review.result = result;
        let decision = review.decisions.last();
        happened.review.summary = decision.map(|decision| decision.reason.clone()).unwrap_or_default();
        happened.status = status;
        ServiceEvent::ended(happened.clone()).record(&tasks.ledger, at_ms).await?;
    }
    tasks.set(task, status, None, at_ms).await?;
    Ok((!told).then_some(happened))
}
