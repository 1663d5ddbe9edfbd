//! `countersign retry TASK`: tries a task again that failed, was rejected, or is stuck.

use super::arguments::RetryOptions;
use super::waiting::Waiting;
use super::{At, finish, said};
use crate::cli::{Failure, Global};
use crate::output::{Answer, Printer};
use countersign_app::author;
use countersign_app::decide::{Action, Decide, decide};
use countersign_app::project::Project;
use countersign_core::outcome::{Outcome, Stop};
use countersign_doors::run::course::Course;
use countersign_doors::run::run::{Run, RunError};
use countersign_doors::run::schedule::Which;
use countersign_doors::run::state::{ErrorCode, TaskState};
use countersign_doors::run::tasks::Status;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Lets a task go on, and runs it.
pub async fn run(
    global: &Global,
    options: RetryOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let at = At::find(global, &options.list)?;
    let settings = at.plain_settings(&options.how)?;
    let warnings = said(printer, at.warnings.clone());
    let _lock = at.lock()?;
    let _ = std::fs::remove_file(at.layout.stop());
    let mut run = at.open(global, settings, &options.how, printer, cancel, true).await?;
    let waiting = Waiting::of(&mut run);
    let run = Arc::new(run);
    release(&at.project, &run, &options).await?;
    let which = Which::These(vec![options.task]);
    let finished = finish(run.clone(), &which, false, warnings);
    waiting.told_during(&at.project, run.engine.ledger(), finished).await
}

/// Lets a task run again. What a person rejected, only a person does.
async fn release(project: &Project, run: &Run, options: &RetryOptions) -> Result<(), Failure> {
    let list = run.tasks.read().map_err(RunError::from)?;
    let task = list.get(&options.task).ok_or_else(|| RunError::NoTask(options.task.clone()))?;
    let attempts = run.state.attempts(&task.id, 1).await.map_err(RunError::from)?;
    let rejected =
        attempts.first().is_some_and(|(_, last)| last.error_code == Some(ErrorCode::ReviewRejected));
    let by = author::actor();
    if rejected && !by.may_decide() {
        return Err(Failure::usage(format!(
            "{} was rejected by a person, and only a person tries it again",
            task.id
        ))
        .hint(author::way_out()));
    }
    let latest = run.latest(&task.id).await?;
    if let Some(review) = latest
        && let Some(Outcome::Stopped(why)) = review.standing()
        && why != Stop::Withdrawn
    {
        let reason = Some(format!("retry of {}", task.id));
        let given = Decide { action: Action::Unblock, by, reason, about: review.digest().cloned() };
        decide(project, &run.engine, &review.id, given).await?;
    }
    let forget = async {
        if !options.fresh {
            return run.rewind(&task.id).await;
        }
        if let Some(course) = Course::load(&run.state, &task.id).await? {
            run.repo.discard(&course.place).await?;
        }
        Ok(Course::forget(&run.state, &task.id).await?)
    };
    forget.await?;
    let at = super::now();
    run.state.set_status(&task.id, &TaskState::Pending, &at).await.map_err(RunError::from)?;
    Ok(run.tasks.set(&task.id, Status::Todo, &at).map_err(RunError::from)?)
}
