//! `countersign task`: tasks of a plan or of any orchestrator, whose work is reviewed when it is done.

pub mod arguments;
mod panel;
mod words;

pub use panel::two_call;

use super::{Failure, Global};
use crate::change::{self, OWN_STATE};
use crate::notify::{self, About, Told};
use crate::output::{Answer, Printer, rfc3339};
use crate::project::{self, Project};
use crate::wanted::built_in_rules;
use arguments::{AddOptions, NamedOptions, ReviewTaskOptions, TaskCommand, TaskOptions};
use countersign_core::ids::{ID_LETTERS, ReviewId, letters};
use countersign_core::outcome::Outcome;
use countersign_doors::service::context::SESSION_LOG_BYTES;
use countersign_doors::service::decided::{after_decision, task_of};
use countersign_doors::service::error::ServiceError;
use countersign_doors::service::event;
use countersign_doors::service::pipeline::{Finished, Reviewing, free_rule};
use countersign_doors::service::plan;
use countersign_doors::service::task::{Home, Task, TaskStatus, completed};
use countersign_doors::service::tasks::{NewTask, Tasks, planned, read_plan};
use countersign_engine::config::{Flags, Pipeline, Source, Trigger};
use countersign_engine::git::Git;
use countersign_engine::ledger::{Ledger, Stored};
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
    tasks_in(project, plan, Ledger::open(&project.ledger_dir()).await?)
}

fn tasks_in(project: &Project, plan: &str, ledger: Ledger) -> Result<Tasks, Failure> {
    let path = project.root.relative(project.root.path(), Path::new(plan));
    let plan = path.map_err(|problem| Failure::usage(problem.to_string()))?;
    // The plan is left out of what is judged, so it must not be able to stand for anything else.
    if !plan.ends_with(".md") || plan.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) {
        return Err(Failure::usage(format!("`{plan}` cannot be a plan"))
            .hint("a plan is a Markdown file, such as PLAN.md, whose name has no signs of a pattern"));
    }
    Ok(Tasks { ledger, root: project.root.path().to_owned(), plan })
}

async fn add(global: &Global, plan: &str, options: AddOptions) -> Result<Answer, Failure> {
    let tasks = tasks(&Project::find(global, None)?, plan).await?;
    let id = match options.id {
        Some(id) => id,
        None => {
            let mut random = [0; ID_LETTERS];
            getrandom::fill(&mut random).map_err(|error| Failure::internal(error.to_string()))?;
            format!("t-{}", letters(random))
        }
    };
    let new = NewTask { title: options.title, scope: options.scope, acceptance: options.acceptance };
    let task = tasks.add(&id, &new, now().0).await?;
    Ok(words::moved(&task, "added"))
}

/// The tasks for those who only look: where nothing was ever written down there are those of the plan.
async fn to_look_at(global: &Global, plan: &str) -> Result<Result<Tasks, Vec<Task>>, Failure> {
    let project = Project::find(global, None)?;
    match project.existing_ledger().await? {
        Some(ledger) => tasks_in(&project, plan, ledger).map(Ok),
        None => {
            let read = read_plan(&project.root.path().join(plan))?;
            let found = read.map(|reading| reading.valid().map_err(ServiceError::Plan)).transpose()?;
            let found = found.map(|found| found.tasks).unwrap_or_default();
            Ok(Err(found.iter().map(|task| planned(plan, task)).collect()))
        }
    }
}

async fn list(global: &Global, plan: &str) -> Result<Answer, Failure> {
    let tasks = match to_look_at(global, plan).await? {
        Ok(tasks) => tasks,
        Err(planned) => return Ok(words::listed(&planned, &vec![false; planned.len()])),
    };
    let all = tasks.list().await?;
    let active: Vec<bool> = all.iter().map(|task| tasks.is_reviewed_now(task)).collect();
    Ok(words::listed(&all, &active))
}

async fn show(global: &Global, plan: &str, options: &NamedOptions) -> Result<Answer, Failure> {
    let tasks = match to_look_at(global, plan).await? {
        Ok(tasks) => tasks,
        Err(planned) => {
            let found = planned.iter().find(|task| task.id == options.id || task.title == options.id);
            let found = found.ok_or_else(|| ServiceError::no_task(&options.id))?;
            return Ok(words::shown(found, None, false));
        }
    };
    let task = tasks.find(&options.id).await?;
    let subject = tasks.subject(&task);
    let latest = event::latest(event::all(&tasks.ledger).await?);
    let last = latest.into_iter().find(|event| event.happened().subject == subject.as_str());
    Ok(words::shown(&task, last.as_ref(), tasks.is_reviewed_now(&task)))
}

async fn start(global: &Global, plan: &str, options: &NamedOptions) -> Result<Answer, Failure> {
    let tasks = tasks(&Project::find(global, None)?, plan).await?;
    let mut task = tasks.find(&options.id).await?;
    match task.status {
        TaskStatus::Blocked if is_stopped(&tasks, &task).await? => {
            return Err(blocked(&tasks, &task).await?);
        }
        TaskStatus::Skipped => return Err(is_skipped(&task)),
        _ => tasks.set(&mut task, TaskStatus::InProgress, None, now().0).await?,
    }
    Ok(words::moved(&task, "started"))
}

async fn is_stopped(tasks: &Tasks, task: &Task) -> Result<bool, Failure> {
    use countersign_core::review::State;
    let latest = tasks.ledger.latest_for(&tasks.subject(task)).await?;
    Ok(latest.is_some_and(|stored| matches!(stored.review.state, State::Settled(Outcome::Stopped(_)))))
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
    let base = base(global, &options).await?;
    let tasks = tasks(&base.project, plan).await?;
    let mut task = tasks.find(&options.id).await?;
    match task.status {
        TaskStatus::Complete => return Ok(words::moved(&task, "is complete already")),
        TaskStatus::Skipped => return Err(is_skipped(&task)),
        _ => {}
    }
    let settings = &base.project.config.service;
    if settings.enabled && settings.trigger != Trigger::ScriptCompletion {
        tasks.set(&mut task, TaskStatus::AwaitingReview, None, now().0).await?;
        return Ok(words::waits(&task, settings.trigger));
    }
    reviewed(base, tasks, task, &options, printer, cancel).await
}

/// The work is reviewed now, whatever the trigger.
pub async fn review(
    global: &Global,
    plan: &str,
    options: ReviewTaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let base = base(global, &options).await?;
    let tasks = tasks(&base.project, plan).await?;
    let task = tasks.find(&options.id).await?;
    if task.status == TaskStatus::Skipped {
        return Err(is_skipped(&task));
    }
    reviewed(base, tasks, task, &options, printer, cancel).await
}

/// The project under the configuration of the commit the work is compared with.
async fn base(global: &Global, options: &ReviewTaskOptions) -> Result<change::Base, Failure> {
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
    let (here, environment) = (project::current_folder()?, project::environment());
    change::base(here, &flags, &environment, options.base.as_deref(), false).await
}

async fn reviewed(
    base: change::Base,
    tasks: Tasks,
    mut task: Task,
    options: &ReviewTaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = &base.project;
    let settings = project.config.service.clone();
    if !settings.enabled {
        tasks.set(&mut task, TaskStatus::Complete, None, now().0).await?;
        return Ok(words::moved(&task, "is complete: reviews are switched off (`review.enabled`)"));
    }
    let mut warnings: Vec<String> = base.edited().into_iter().collect();
    if options.session_log.is_some() && !settings.context.session_log {
        warnings.push("`context.session_log` is off: the log is not shown to the reviewer".to_owned());
    }
    warnings.extend(rewritten(&base, &tasks, &task).await?);
    if !settings.context.diff {
        warnings.push("`context.diff` is off: the reviewer does not see the change".to_owned());
    }
    let (rules, planner) = match settings.pipeline {
        Pipeline::TwoCall => {
            let panel = two_call(project, base.commit()).await?;
            (vec![free_rule()], project.planner_for(panel)?)
        }
        Pipeline::Structured if project.config.rules.is_empty() => {
            (built_in_rules()?, project.planner(None)?)
        }
        Pipeline::Structured => (project.config.rules.clone(), project.planner(None)?),
    };
    let mut environment: Vec<_> = std::env::vars_os().collect();
    environment.push(("COUNTERSIGN_CALL".into(), "task".into()));
    let engine = project.engine(planner).await?;
    let reviewing = Reviewing {
        engine: engine.clone(),
        rules,
        policy: project.config.policy.clone(),
        session_log: session_log(project, options)?,
        base: base.commit().map(str::to_owned),
        left_out: left_out(&tasks)?,
        guard: project::guard_program()?,
        settings,
        tasks,
        environment,
        now,
    };
    let finished = printer.progress().during(&engine, reviewing.review(task, cancel)).await?;
    tell(project, engine.ledger(), &finished).await;
    let mut answer = words::finished(&finished);
    answer.warnings = warnings;
    answer.printed = true;
    // Only an answer that reached somebody is delivered; otherwise the same work gets it again.
    if let (true, Some((ticket, _))) = (printer.print(&answer) && !cancel.is_cancelled(), &finished.judged) {
        engine.delivered(ticket).await?;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// Tells people what came of a review, where that is for them.
async fn tell(project: &Project, ledger: &Ledger, finished: &Finished) {
    let Finished { task, happened, .. } = finished;
    let (about, notification) = match (&happened.notification, task.status) {
        (Some(notification), _) => (About::ReviewFailed, notification.clone()),
        (None, TaskStatus::Complete) => (About::TaskComplete, completed(&task.title)),
        (None, _) => return,
    };
    let (subject, review) = (happened.subject.clone(), happened.review.id.clone());
    notify::tell(project, ledger, Told { about, subject, review, notification }).await;
}

/// What is no part of anybody's work: our own state, and the plan, whose statuses we write.
fn left_out(tasks: &Tasks) -> Result<Vec<String>, Failure> {
    let plan = (!tasks.read()?.tasks.is_empty()).then(|| tasks.plan.clone());
    Ok([OWN_STATE.to_owned()].into_iter().chain(plan).collect())
}

/// What to say when the work rewrites what the task asks for: the plan is not part of what the reviewer judges.
async fn rewritten(base: &change::Base, tasks: &Tasks, task: &Task) -> Result<Option<String>, Failure> {
    let (Some(commit), Home::Plan { file }) = (base.commit(), &task.home) else { return Ok(None) };
    let found = Git::at(&tasks.root).file_at(commit, file).await;
    let Some(text) = found.ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Ok(None);
    };
    let before = plan::parse(&Source::new(file, &text)).plan;
    let before = before.find(&task.title).map(|before| (before.scope.clone(), before.acceptance.clone()));
    let is_other = before.is_some_and(|before| before != (task.scope.clone(), task.acceptance.clone()));
    Ok(is_other.then(|| {
        format!(
            "scope or acceptance of task {} are not what they were: look at what changed in {file} yourself",
            task.id
        )
    }))
}

/// The latest review of the task somebody means by a place in the plan or by the id it was added by.
pub async fn review_of(project: &Project, ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let is_place = typed.split('.').count() == 2 && typed.split('.').all(|part| part.parse::<u32>().is_ok());
    let tasks = tasks_in(project, plan::FILE, ledger.clone())?;
    let task = match is_place {
        true => tasks.find(typed).await?,
        // A plan with mistakes must not keep anybody from looking at another review.
        false => match tasks.added(typed).await? {
            Some(task) => task,
            None => return Ok(None),
        },
    };
    let latest = tasks.ledger.latest_for(&tasks.subject(&task)).await?;
    match latest {
        Some(stored) => Ok(Some(stored.review.id)),
        None => Err(Failure::usage(format!("task {} was never reviewed", task.id))
            .hint(format!("countersign task review {}", task.id))),
    }
}

/// Moves a task after somebody has decided about its review.
pub async fn decided(global: &Global, stored: &Stored) -> Result<(), Failure> {
    if stored.review.subject.door() != "service" {
        return Ok(());
    }
    let tasks = tasks(&Project::find(global, None)?, plan::FILE).await?;
    if let Some(mut task) = task_of(&tasks, &stored.review.subject).await? {
        after_decision(&tasks, &mut task, &stored.review, now()).await?;
    }
    Ok(())
}

/// The end of a session's log.
fn session_log(project: &Project, options: &ReviewTaskOptions) -> Result<Option<String>, Failure> {
    let Some(path) = &options.session_log else { return Ok(None) };
    let path = project.here.join(path);
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the session log `{}` cannot be read: {error}", path.display()))
    };
    let mut file = std::fs::File::open(&path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(Failure::usage(format!("the session log `{}` is no regular file", path.display())));
    }
    file.seek(SeekFrom::Start(found.len().saturating_sub(SESSION_LOG_BYTES))).map_err(failed)?;
    let mut bytes = vec![];
    file.take(SESSION_LOG_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The time, in milliseconds and in words.
fn now() -> (i64, String) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ms = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    // Whole seconds, as existing plans have them.
    (ms, rfc3339(ms - ms.rem_euclid(1000)).unwrap_or_default())
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let words = error.to_string();
        match error {
            ServiceError::Plan(problems) => problems.into(),
            ServiceError::Edit(_) => {
                Self::usage(words).hint("`countersign validate` says what is wrong with the plan")
            }
            ServiceError::Usage { message, hint } => Self::usage(message).hint(hint),
            ServiceError::Blocked { review, .. } => {
                use countersign_core::outcome::Stop;
                Self::new(Outcome::Stopped(Stop::AttemptsUsedUp), "blocked", words)
                    .hint(format!("a person can let it go on: countersign unblock {review} --reason TEXT"))
            }
            ServiceError::Io { .. } => Self::internal(words),
            ServiceError::Engine(error) => error.into(),
        }
    }
}
