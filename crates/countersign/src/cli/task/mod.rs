//! `countersign task`: tasks of a plan or of any orchestrator, whose work is reviewed when it is done.

pub mod arguments;
mod panel;
mod reviewing;
pub mod words;

pub use panel::two_call;
pub use reviewing::{Begun, Ready, Reviewed, When, begin};

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use arguments::{AddOptions, NamedOptions, ReviewTaskOptions, TaskCommand, TaskOptions};
use countersign_app::change;
use countersign_app::project::{self, Project};
use countersign_app::tasks::{now, tasks_in};
use countersign_core::ids::{ID_LETTERS, letters};
use countersign_core::outcome::Settlement;
use countersign_doors::service::context::SESSION_LOG_BYTES;
use countersign_doors::service::error::ServiceError;
use countersign_doors::service::event;
use countersign_doors::service::task::{Task, TaskStatus};
use countersign_doors::service::tasks::{NewTask, Tasks, planned, read_plan};
use countersign_engine::config::Flags;
use countersign_engine::ledger::Ledger;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Does what was typed.
pub async fn run(
    global: &Global,
    options: TaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let TaskOptions { command, plan } = options;
    match command {
        TaskCommand::Add(options) => add(global, &plan, options).await,
        TaskCommand::List => list(global, &plan).await,
        TaskCommand::Show(options) => show(global, &plan, &options).await,
        TaskCommand::Start(options) => start(global, &plan, &options).await,
        TaskCommand::Done(options) => done(global, &plan, options, printer, cancel).await,
        TaskCommand::Review(options) => review(global, &plan, options, printer, cancel).await,
    }
}

/// The tasks of the project around the current folder.
async fn tasks(project: &Project, plan: &str) -> Result<Tasks, Failure> {
    tasks_in(project, plan, project.ledger().await?)
}

async fn add(global: &Global, plan: &str, options: AddOptions) -> Result<Answer, Failure> {
    let tasks = tasks(&Project::find(global.config.as_deref(), None)?, plan).await?;
    let new = NewTask { title: options.title, scope: options.scope, acceptance: options.acceptance };
    added(&tasks, options.id, &new).await
}

/// Adds a task; without an id it gets one.
pub async fn added(tasks: &Tasks, id: Option<String>, new: &NewTask) -> Result<Answer, Failure> {
    let id = match id {
        Some(id) => id,
        None => {
            let mut random = [0; ID_LETTERS];
            getrandom::fill(&mut random).map_err(|error| Failure::internal(error.to_string()))?;
            format!("t-{}", letters(random))
        }
    };
    let task = tasks.add(&id, new, now().0).await?;
    Ok(words::moved(&task, "added"))
}

async fn list(global: &Global, plan: &str) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let ledger = project.existing_ledger().await?;
    listed(&project, plan, ledger).await
}

/// All tasks, for those who only look: where nothing was ever written down there are those of the plan.
pub async fn listed(project: &Project, plan: &str, ledger: Option<Ledger>) -> Result<Answer, Failure> {
    let Some(ledger) = ledger else {
        let planned = planned_only(project, plan)?;
        return Ok(words::listed(&planned, &vec![false; planned.len()]));
    };
    let tasks = tasks_in(project, plan, ledger)?;
    let all = tasks.list().await?;
    let active: Vec<bool> = all.iter().map(|task| tasks.is_reviewed_now(task)).collect();
    Ok(words::listed(&all, &active))
}

fn planned_only(project: &Project, plan: &str) -> Result<Vec<Task>, Failure> {
    let read = read_plan(&project.root.path().join(plan))?;
    let found = read.map(|reading| reading.valid().map_err(ServiceError::Plan)).transpose()?;
    let found = found.map(|found| found.tasks).unwrap_or_default();
    Ok(found.iter().map(|task| planned(plan, task)).collect())
}

async fn show(global: &Global, plan: &str, options: &NamedOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let ledger = project.existing_ledger().await?;
    shown(&project, plan, ledger, &options.id).await
}

/// One task, for those who only look.
pub async fn shown(
    project: &Project,
    plan: &str,
    ledger: Option<Ledger>,
    typed: &str,
) -> Result<Answer, Failure> {
    let Some(ledger) = ledger else {
        let planned = planned_only(project, plan)?;
        let found = planned.iter().find(|task| task.id == typed || task.title == typed);
        return Ok(words::shown(found.ok_or_else(|| ServiceError::no_task(typed))?, None, false));
    };
    let tasks = tasks_in(project, plan, ledger)?;
    let task = tasks.find(typed).await?;
    let subject = tasks.subject(&task);
    let latest = event::latest(event::all(&tasks.ledger).await?);
    let last = latest.into_iter().find(|event| event.happened().subject == subject.as_str());
    Ok(words::shown(&task, last.as_ref(), tasks.is_reviewed_now(&task)))
}

async fn start(global: &Global, plan: &str, options: &NamedOptions) -> Result<Answer, Failure> {
    started(&tasks(&Project::find(global.config.as_deref(), None)?, plan).await?, &options.id).await
}

/// Somebody begins to work on a task.
pub async fn started(tasks: &Tasks, typed: &str) -> Result<Answer, Failure> {
    let mut task = tasks.find(typed).await?;
    match task.status {
        TaskStatus::Blocked if is_stopped(tasks, &task).await? => {
            return Err(blocked(tasks, &task).await?);
        }
        TaskStatus::Skipped => return Err(is_skipped(&task)),
        _ => tasks.set(&mut task, TaskStatus::InProgress, None, now().0).await?,
    }
    Ok(words::moved(&task, "started"))
}

async fn is_stopped(tasks: &Tasks, task: &Task) -> Result<bool, Failure> {
    use countersign_core::review::State;
    let latest = tasks.ledger.latest_for(&tasks.subject(task)).await?;
    Ok(latest.is_some_and(|stored| matches!(stored.review.state, State::Settled(Settlement::Stopped(_)))))
}

async fn blocked(tasks: &Tasks, task: &Task) -> Result<Failure, Failure> {
    let latest = tasks.ledger.latest_for(&tasks.subject(task)).await?;
    let (why, review) = latest.map_or_else(
        || ("a person has to look at it".to_owned(), String::new()),
        |stored| {
            let why = stored.review.standing().map(|outcome| outcome.to_string()).unwrap_or_default();
            (why, stored.review.id.to_string())
        },
    );
    Ok(ServiceError::Blocked { id: task.id.clone(), why, review }.into())
}

fn is_skipped(task: &Task) -> Failure {
    Failure::usage(format!("task {} is skipped", task.id)).hint("change its status in the plan first")
}

/// The work is done: reviewed at once under its trigger, otherwise the task waits.
async fn done(
    global: &Global,
    plan: &str,
    options: ReviewTaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    began(global, plan, options, When::Triggered, printer, cancel).await
}

/// The work is reviewed now, whatever the trigger.
pub async fn review(
    global: &Global,
    plan: &str,
    options: ReviewTaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    began(global, plan, options, When::Now, printer, cancel).await
}

async fn began(
    global: &Global,
    plan: &str,
    options: ReviewTaskOptions,
    when: When,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let base = base(global, &options).await?;
    let tasks = tasks(&base.project, plan).await?;
    let log = options.session_log.as_ref().map(|log| session_log(&base.project.here.join(log)));
    let log = log.transpose()?;
    match begin(base, tasks, &options.id, log, when).await? {
        Begun::Answered(answer) => Ok(answer),
        Begun::Ready(ready) => concluded(*ready, printer, cancel).await,
    }
}

/// The project under the configuration of the commit the work is compared with.
async fn base(global: &Global, options: &ReviewTaskOptions) -> Result<change::Base, Failure> {
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
    let (here, environment) = (project::current_folder()?, project::environment());
    change::base(here, &flags, &environment, options.base.as_deref(), false).await
}

/// Reviews, prints the answer and notes that it was read.
async fn concluded(ready: Ready, printer: &Printer, cancel: &CancellationToken) -> Result<Answer, Failure> {
    let engine = ready.project().engine(ready.planner()).await?;
    let Reviewed { mut answer, ticket, telling } =
        printer.progress().during(&engine, ready.review(engine.clone(), cancel)).await?;
    answer.printed = true;
    // Only an answer that reached somebody is delivered; otherwise the same work gets it again.
    if let (true, Some(ticket)) = (printer.print(&answer) && !cancel.is_cancelled(), &ticket) {
        engine.delivered(ticket).await?;
    }
    // Last, because it may take a while: the answer is there already.
    if let Some(telling) = telling {
        telling.tell(engine.ledger()).await;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// The end of a session's log.
pub fn session_log(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the session log `{}` cannot be read: {error}", path.display()))
    };
    // Opening a named pipe would wait for somebody to write to it.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Failure::usage(format!("the session log `{}` is no regular file", path.display())));
    }
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SESSION_LOG_BYTES))).map_err(failed)?;
    let mut bytes = vec![];
    file.take(SESSION_LOG_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
