//! The status of a task after a person decided about its review, also where the process ended before it was set.

use super::error::ServiceError;
use super::event::{Happened, ServiceEvent};
use super::task::{Task, TaskStatus};
use super::tasks::Tasks;
use countersign_core::answer::ReviewResult;
use countersign_core::ids::Subject;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::review::{Event, Review, State};
use countersign_engine::ledger::{Ledger, Stored};

const PERSON: &str = "a person";

pub async fn task_of(tasks: &Tasks, subject: &Subject) -> Result<Option<Task>, ServiceError> {
    Ok(tasks.list().await?.into_iter().find(|task| tasks.subject(task) == *subject))
}

/// Sets a task right whose process ended between a decision and what follows from it. A task that has got a status since
/// the decision is left alone.
pub async fn after_interruption(
    tasks: &Tasks,
    stored: &Stored,
    now: (i64, String),
) -> Result<(), ServiceError> {
    let Some(mut task) = task_of(tasks, &stored.review.subject).await? else { return Ok(()) };
    let Some(decided_ms) = last_decision(&tasks.ledger, stored).await? else { return Ok(()) };
    if tasks.last_moved(&task).await?.is_none_or(|at_ms| at_ms < decided_ms) {
        after_decision(tasks, &mut task, &stored.review, now).await?;
    }
    Ok(())
}

/// When a person last decided about a review or let it go on.
async fn last_decision(ledger: &Ledger, stored: &Stored) -> Result<Option<i64>, ServiceError> {
    let entries = ledger.events(&stored.review.id, 0, u32::MAX).await?;
    let is_decision = |event: &Event| matches!(event, Event::Decided { .. } | Event::Lifted { .. });
    Ok(entries.iter().filter(|entry| is_decision(&entry.event)).map(|entry| entry.at_ms).next_back())
}

/// Sets the status of a task after a decision: the event first, then the plan, then the status on record. An event that
/// is recorded already is not recorded again.
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
            tasks.set_anew(task, TaskStatus::InProgress, at_ms).await?;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let mut happened = Happened::begin(tasks, task, review.attempts.max(1), at, PERSON);
    happened.review.id = Some(review.id.to_string());
    happened.review.result = result;
    let decision = review.decisions.last();
    happened.review.summary = decision.map(|decision| decision.reason.clone()).unwrap_or_default();
    happened.status = status;
    let is_new = ServiceEvent::ended(happened.clone()).record_once(&tasks.ledger, at_ms).await?;
    tasks.set_anew(task, status, at_ms).await?;
    Ok(is_new.then_some(happened))
}
