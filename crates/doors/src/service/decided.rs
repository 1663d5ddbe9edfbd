//! What a person's decision about a review does to its task.

use super::error::ServiceError;
use super::event::{self, Happened, ServiceEvent};
use super::task::{Task, TaskStatus};
use super::tasks::Tasks;
use countersign_core::answer::ReviewResult;
use countersign_core::ids::Subject;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::review::{Review, State};

/// Who decides, as the record of a review names it.
const PERSON: &str = "a person";

/// The task a subject stands for, if it is there.
pub async fn task_of(tasks: &Tasks, subject: &Subject) -> Result<Option<Task>, ServiceError> {
    Ok(tasks.list().await?.into_iter().find(|task| tasks.subject(task) == *subject))
}

/// Moves a task to where its review stands now that somebody has decided: complete, blocked, or back to whoever works on
/// it. What is told already is not told again.
pub async fn after_decision(
    tasks: &Tasks,
    task: &mut Task,
    review: &Review,
    now: (i64, String),
) -> Result<Option<Happened>, ServiceError> {
    let (at_ms, at) = now;
    let (result, status) = match review.state {
        State::Settled(Settlement::Overridden | Settlement::Skipped) => {
            (ReviewResult::Approved, TaskStatus::Complete)
        }
        // What passed and waited for a person's word.
        State::Settled(Settlement::Passed) if !review.decisions.is_empty() => {
            (ReviewResult::Approved, TaskStatus::Complete)
        }
        State::Settled(Settlement::Stopped(Stop::Rejected)) => (ReviewResult::Rejected, TaskStatus::Blocked),
        State::NeedsWork if matches!(task.status, TaskStatus::Blocked | TaskStatus::AwaitingReview) => {
            tasks.set(task, TaskStatus::InProgress, None, at_ms).await?;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let subject = tasks.subject(task);
    let latest = event::latest(event::all(&tasks.ledger).await?);
    let told = latest.iter().map(ServiceEvent::happened).any(|happened| {
        happened.subject == subject.as_str()
            && happened.review.result == result
            && happened.review.id.as_deref() == Some(review.id.as_str())
    });
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
