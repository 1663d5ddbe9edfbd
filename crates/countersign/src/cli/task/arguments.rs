//! What can be typed after `countersign task`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const TASK_HELP: &str = "\
Examples:
  countersign task list                                    tasks of PLAN.md, and those added by command
  countersign task add 'Build walls' --id walls --acceptance 'they stand'
  countersign task start walls
  countersign task done walls                              reviewed at once where `review.trigger` says so
  countersign task review 1.2                              reviewed now, whatever the trigger

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
    /// Add a task that is in no plan
    Add(AddOptions),
    /// All tasks, and which are under review now
    List,
    /// One task, with its last review
    Show(NamedOptions),
    /// Somebody begins to work on a task
    Start(NamedOptions),
    /// The work on a task is done: it is reviewed now, or waits for its review
    Done(ReviewTaskOptions),
    /// Review the work on a task now
    Review(ReviewTaskOptions),
}

impl TaskCommand {
    /// The command's name, as the answer in JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => "task add",
            Self::List => "task list",
            Self::Show(_) => "task show",
            Self::Start(_) => "task start",
            Self::Done(_) => "task done",
            Self::Review(_) => "task review",
        }
    }
}

#[derive(Debug, Args)]
pub struct AddOptions {
    /// What it is called
    pub title: String,
    /// What to type for it later; without one it gets one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// What belongs to it
    #[arg(long, value_name = "TEXT")]
    pub scope: Option<String>,
    /// When it is done
    #[arg(long, value_name = "TEXT")]
    pub acceptance: Option<String>,
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
    /// Who is asked: a configured name, auto, {programs}, command:PROGRAM or replay:FILE
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}
