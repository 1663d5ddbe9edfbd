//! `countersign task`: tasks of a plan or of any orchestrator, whose work is reviewed when it is done.

pub mod texts;

use super::review::delivered;
use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::{Args, Subcommand};
use countersign_app::author;
use countersign_app::project::Project;
use countersign_app::review::gate_base;
use countersign_app::task::{self, Ready, TaskReview, When};
use countersign_app::tasks::{plan_of_gate, tasks_in};
use countersign_doors::service::tasks::{NewTask, Tasks};
use countersign_engine::config::Flags;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

const TASK_HELP: &str = "\
Examples:
  countersign task list                                    tasks of PLAN.md, and those added by command
  countersign task add 'Build walls' --id walls --acceptance 'they stand'
  countersign task start walls
  countersign task done walls                              reviewed at once where `review.trigger` says so
  countersign task review 1.2                              reviewed now, under any trigger

A task of PLAN.md is named by its place (1.2) or its title. The countersign.yml of the commit the work is compared with
says how it is reviewed.";

#[derive(Debug, Args)]
#[command(after_help = TASK_HELP)]
pub struct TaskOptions {
    #[command(subcommand)]
    pub command: TaskCommand,
    /// The plan, relative to the project's root
    #[arg(long, global = true, value_name = "FILE", default_value = "PLAN.md")]
    pub plan: String,
}

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Add a task that is not in the plan
    Add {
        /// Its title
        title: String,
        /// Its id; one is made if you give none
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        /// What the work covers
        #[arg(long, value_name = "TEXT")]
        scope: Option<String>,
        /// The condition under which it is done
        #[arg(long, value_name = "TEXT")]
        acceptance: Option<String>,
    },
    /// List all tasks, and which are under review now
    List,
    /// Show a task with its last review
    Show(NamedOptions),
    /// Mark a task as in progress
    Start(NamedOptions),
    /// Mark the work on a task as done; it is reviewed now or later, by `review.trigger`
    Done(ReviewTaskOptions),
    /// Review the work on a task now
    Review(ReviewTaskOptions),
}

#[derive(Debug, Args)]
pub struct NamedOptions {
    /// The task: its id, its place in the plan (1.2), or its title there
    pub id: String,
}

#[derive(Debug, Default, Args)]
pub struct ReviewTaskOptions {
    /// The task: its id, its place in the plan (1.2), or its title there
    pub id: String,
    /// The commit to compare with, instead of where HEAD left the default branch
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The log of the session in which the work was done; shown where `context.session_log` is on
    #[arg(long, value_name = "FILE")]
    pub session_log: Option<PathBuf>,
    /// The reviewer: a configured name, auto, {programs}, command:PROGRAM or replay:FILE
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

pub async fn run(
    global: &Global,
    options: TaskOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let TaskOptions { command, plan } = options;
    let find = || Project::find(global.config.as_deref(), None);
    match command {
        TaskCommand::Add { title, id, scope, acceptance } => {
            let new = NewTask { title, scope, acceptance };
            Ok(texts::moved(&task::add(&tasks(&find()?, &plan).await?, id, &new).await?, "added"))
        }
        TaskCommand::List => {
            let project = find()?;
            let ledger = project.existing_ledger().await?;
            Ok(texts::listed(task::list(&project, &plan, ledger).await?))
        }
        TaskCommand::Show(options) => {
            let project = find()?;
            let ledger = project.existing_ledger().await?;
            Ok(texts::shown(&task::show(&project, &plan, ledger, &options.id).await?))
        }
        TaskCommand::Start(options) => {
            Ok(texts::moved(&task::start(&tasks(&find()?, &plan).await?, &options.id).await?, "started"))
        }
        TaskCommand::Done(options) => begin(global, &plan, options, When::Triggered, printer, cancel).await,
        TaskCommand::Review(options) => begin(global, &plan, options, When::Now, printer, cancel).await,
    }
}

async fn tasks(project: &Project, plan: &str) -> Result<Tasks, Failure> {
    tasks_in(project, plan, project.ledger().await?).await
}

/// Reviews the work on a task: `When::Now` does so under any trigger.
pub async fn begin(
    global: &Global,
    plan: &str,
    options: ReviewTaskOptions,
    when: When,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer };
    let mut base = gate_base(&flags, options.base.as_deref()).await?;
    let (plan, ignored) = plan_of_gate(plan, author::mark());
    base.warnings.extend(ignored);
    let tasks = tasks(&base.project, plan).await?;
    let log = options.session_log.as_ref().map(|log| task::session_log(&base.project.here.join(log)));
    let log = log.transpose()?;
    match task::begin(base, tasks, &options.id, log, when).await? {
        TaskReview::Answered(did, answer, warnings) => Ok(texts::did(did, &answer).warned(warnings)),
        TaskReview::Ready(ready) => concluded(*ready, printer, cancel).await,
    }
}

/// Reviews, prints the answer and notes that it was read.
async fn concluded(ready: Ready, printer: &Printer, cancel: &CancellationToken) -> Result<Answer, Failure> {
    let engine = ready.base.project.engine(ready.planner.clone()).await?;
    let reviewed = printer.during(&engine, ready.review(engine.clone(), cancel)).await?;
    let (answer, ticket) = (texts::finished(&reviewed), reviewed.ticket.as_ref());
    let answer = delivered(answer, &engine, ticket, printer, cancel).await?;
    // Last, because it may take a while, and the answer is printed.
    if let Some(telling) = reviewed.telling {
        telling.tell(engine.ledger()).await;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
}
