//! The commands about tasks: add, list, show and start. The review of a task is in `reviewing`, its reviewers in `panel`.

mod panel;
mod reviewing;

pub use panel::{own_command_of, two_call};
pub use reviewing::{Ready, Reviewed, TaskReview, When, WithoutReview, begin};

use crate::Failure;
use crate::answer::v1::Answer;
use crate::answer::v1::task::{self as v1, OneTask};
use crate::project::Project;
use crate::tasks::{known_plan, now, plan_warnings, tasks_in};
use countersign_core::outcome::Settlement;
use countersign_core::review::State;
use countersign_doors::service::context::SESSION_LOG_BYTES;
use countersign_doors::service::error::ServiceError;
use countersign_doors::service::event;
use countersign_doors::service::task::{Task, TaskStatus};
use countersign_doors::service::tasks::{NewTask, Tasks, read_plan};
use countersign_engine::fresh;
use countersign_engine::ledger::Ledger;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

pub async fn add(tasks: &Tasks, id: Option<String>, new: &NewTask) -> Result<OneTask, Failure> {
    let id = match id {
        Some(id) => id,
        None => format!("t-{}", fresh::id().map_err(|error| Failure::internal(error.to_string()))?),
    };
    Ok(OneTask::new(&tasks.add(&id, new, now().0).await?))
}

/// All tasks, read-only: without a ledger, those of the plan.
pub async fn list(
    project: &Project,
    plan: &str,
    ledger: Option<Ledger>,
) -> Result<Answer<v1::Tasks>, Failure> {
    let tasks: Vec<v1::Task> = match ledger {
        None => planned_only(project, plan).await?.iter().map(|task| v1::Task::new(task, false)).collect(),
        Some(ledger) => {
            let tasks = tasks_in(project, plan, ledger).await?;
            let all = tasks.list().await?;
            all.iter().map(|task| v1::Task::new(task, tasks.is_reviewed_now(task))).collect()
        }
    };
    let active = tasks.iter().filter(|task| task.review_running).map(|task| task.id.clone());
    let active_reviews = active.collect();
    Ok(Answer::passed(v1::Tasks { active_reviews, tasks }).warned(plan_warnings(project, plan)))
}

async fn planned_only(project: &Project, plan: &str) -> Result<Vec<Task>, Failure> {
    let read = read_plan(&project.root.path().join(plan))?;
    let found = read.map(|reading| reading.valid().map_err(ServiceError::Plan)).transpose()?;
    Ok(known_plan(project, plan).await.tasks(plan, &found.unwrap_or_default()))
}

pub async fn show(
    project: &Project,
    plan: &str,
    ledger: Option<Ledger>,
    typed: &str,
) -> Result<OneTask, Failure> {
    let Some(ledger) = ledger else {
        let planned = planned_only(project, plan).await?;
        let found = planned.iter().find(|task| task.id == typed || task.title == typed);
        return Ok(OneTask::new(found.ok_or_else(|| ServiceError::no_task(typed))?));
    };
    let tasks = tasks_in(project, plan, ledger).await?;
    let task = tasks.find(typed).await?;
    let subject = tasks.subject(&task);
    let last = event::latest_of(&tasks.ledger, &subject).await?;
    let review = last.map(|event| event.happened().review.clone());
    let running = tasks.is_reviewed_now(&task);
    Ok(OneTask { task: v1::Task::new(&task, running), review, ..OneTask::new(&task) })
}

pub async fn start(tasks: &Tasks, typed: &str) -> Result<OneTask, Failure> {
    tasks.see_plan(now().0).await?;
    let mut task = tasks.find(typed).await?;
    let latest = tasks.ledger.latest_for(&tasks.subject(&task)).await?;
    match (task.status, latest) {
        (TaskStatus::Blocked, Some(stored))
            if matches!(stored.review.state, State::Settled(Settlement::Stopped(_))) =>
        {
            let why = stored.review.standing().map(|outcome| outcome.to_string()).unwrap_or_default();
            let review = stored.review.id.to_string();
            return Err(ServiceError::Blocked { id: task.id, why, review }.into());
        }
        (TaskStatus::Skipped, _) => return Err(is_skipped(&task)),
        _ => tasks.set(&mut task, TaskStatus::InProgress, None, now().0).await?,
    }
    Ok(OneTask::new(&task))
}

fn is_skipped(task: &Task) -> Failure {
    Failure::usage(format!("task {} is skipped", task.id)).hint("change its status in the plan first")
}

pub fn session_log(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the session log `{}` cannot be read: {error}", path.display()))
    };
    // Opening a named pipe would wait for a writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Failure::usage(format!("the session log `{}` is not a regular file", path.display())));
    }
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SESSION_LOG_BYTES))).map_err(failed)?;
    let mut bytes = vec![];
    file.take(SESSION_LOG_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
