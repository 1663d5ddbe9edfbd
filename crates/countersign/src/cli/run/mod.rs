//! `run`, `retry`, `output`, `stop`: tasks done by agents, where nothing merges unreviewed.

mod show;

use super::{Failure, Global};
use crate::ask::TerminalGate;
use crate::formats::Report;
use crate::output::{Answer, Printer, json_line};
use crate::tui::{Left, Source, show};
use clap::Args;
use countersign_app::answer::v1::run::Order;
use countersign_app::run::{List, Plan, Request, Retry, RunSwitches, UnderWay};
use countersign_core::outcome::Outcome;
use countersign_core::text::{visible, visible_line};
use countersign_doors::run::schedule::Selection;
use countersign_doors::run::tasks::Task;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const RUN_HELP: &str = "\
Examples:
  countersign run                           the next task of spec/tasks.md
  countersign run --all                     every task, in order of dependencies and priority
  countersign run TASK-003 TASK-004         these
  countersign run --all --parallel          several at once, each in a git worktree of its own
  countersign run --all --hitl-review       a person decides about each task at this terminal
  countersign run --all --parallel --hitl-queue
                                            a person decides from another terminal: countersign approve TASK-003 …
  countersign run --all --dry-run           print what would run, and run nothing

Each task is done by an agent, tested, linted, judged, and merged only when it passed. Ctrl-C stops after the
current step, a second one at once; the next run continues from there.";

#[derive(Clone, Debug, Default, Args)]
pub struct ListOptions {
    /// The list of tasks of this prefix: `phase5-` means spec/phase5-tasks.md
    #[arg(long, value_name = "PREFIX")]
    pub prefix: Option<String>,
}

#[derive(Clone, Debug, Default, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunOptions {
    /// Tasks to run; without any, the next one
    pub tasks: Vec<String>,
    /// The same as a task without --task
    #[arg(long = "task", short = 't', value_name = "TASK", conflicts_with_all = ["all", "milestone"])]
    pub named: Vec<String>,
    /// Every task that can run
    #[arg(long, conflicts_with_all = ["tasks", "milestone"])]
    pub all: bool,
    /// Tasks under a milestone whose name has this in it
    #[arg(long, value_name = "NAME", conflicts_with = "tasks")]
    pub milestone: Option<String>,
    /// Several tasks at once, each in a git worktree of its own
    #[arg(long)]
    pub parallel: bool,
    /// How many at once
    #[arg(long, value_name = "N", requires = "parallel", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub max_concurrent: Option<u32>,
    /// Show the run on the whole screen
    #[arg(long)]
    pub tui: bool,
    #[command(flatten)]
    pub how: SwitchOptions,
    /// Print what would run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json_result: bool,
    #[command(flatten)]
    pub list: ListOptions,
}

/// How tasks are run.
#[derive(Clone, Debug, Default, Args)]
pub struct SwitchOptions {
    /// A person decides about each task at this terminal, whatever the verdict
    #[arg(long, conflicts_with = "hitl_queue")]
    pub hitl_review: bool,
    /// A person decides from elsewhere while the task waits: countersign approve|reject|fix|skip TASK
    #[arg(long)]
    pub hitl_queue: bool,
    /// Merge without a review; recorded as skipped
    #[arg(long)]
    pub no_review: bool,
    /// Run no tests
    #[arg(long)]
    pub no_tests: bool,
    /// Leave the work uncommitted in the files
    #[arg(long)]
    pub no_commit: bool,
    /// Commit to the branch that is checked out
    #[arg(long)]
    pub no_branch: bool,
    /// Merge into a branch for a pull request, and never into the main branch
    #[arg(long)]
    pub integration_pr: bool,
    /// How many attempts a task has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_retries: Option<u32>,
    /// The most all agents together may cost
    #[arg(long, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Who judges: a configured name, {programs}, command:PROGRAM, text:COMMAND or replay:FILE
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

impl From<SwitchOptions> for RunSwitches {
    fn from(options: SwitchOptions) -> Self {
        let SwitchOptions { hitl_review, hitl_queue, no_review, no_tests, no_commit, no_branch, .. } =
            options;
        let SwitchOptions { max_retries, budget_usd, reviewer, integration_pr, .. } = options;
        Self {
            hitl_review,
            hitl_queue,
            no_review,
            no_tests,
            no_commit,
            no_branch,
            max_retries,
            budget_usd,
            reviewer,
            integration_pr,
        }
    }
}

impl From<RunOptions> for Request {
    fn from(options: RunOptions) -> Self {
        let tasks = [options.tasks, options.named].concat();
        let which = match (tasks, options.milestone) {
            (tasks, _) if !tasks.is_empty() => Selection::These(tasks),
            (_, Some(name)) => Selection::Milestone(name),
            _ if options.all => Selection::All,
            _ => Selection::Next,
        };
        Self {
            which,
            retry: None,
            parallel: options.parallel,
            max_concurrent: options.max_concurrent,
            on_screen: options.tui,
            how: options.how.into(),
        }
    }
}

const RETRY_HELP: &str = "\
Examples:
  countersign retry TASK-003           run it again; the agent gets the errors of the last attempt
  countersign retry TASK-003 --fresh   delete its branch first

Only a person may retry a task that a person rejected.";

#[derive(Clone, Debug, Args)]
#[command(after_help = RETRY_HELP)]
pub struct RetryOptions {
    /// The task
    pub task: String,
    /// Delete its branch first
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub how: SwitchOptions,
    #[command(flatten)]
    pub list: ListOptions,
}

#[derive(Clone, Debug, Args)]
pub struct OutputOptions {
    /// The task
    pub task: String,
    /// Which attempt; without it, the last
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    #[command(flatten)]
    pub list: ListOptions,
}

pub async fn run(
    global: &Global,
    options: RunOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let list = find_for_gate(global, &options.list, &options.how).await?;
    let (dry_run, on_screen, json_result) = (options.dry_run, options.tui, options.json_result);
    let plan = list.plan(options.into())?;
    let warnings = said(printer, &plan.warnings);
    if on_screen && !dry_run && !crate::terminal::is_there() {
        return Err(
            Failure::usage("--tui needs a terminal").hint("remove it, and watch with `countersign tui`")
        );
    }
    if dry_run {
        let people = people(&plan, cancel);
        return Ok(ordered(&plan.order(people).await?));
    }
    let under_way = start(plan, printer, cancel, !on_screen).await?;
    let answer = match on_screen {
        true => shown(under_way, json_result, printer).await?,
        false => finish(under_way, json_result).await?,
    };
    Ok(answer.warned(warnings))
}

pub async fn retry(
    global: &Global,
    options: RetryOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let list = find_for_gate(global, &options.list, &options.how).await?;
    let plan = list.plan(Request {
        which: Selection::These(vec![options.task.clone()]),
        retry: Some(Retry { task: options.task, fresh: options.fresh }),
        parallel: false,
        max_concurrent: None,
        on_screen: false,
        how: options.how.into(),
    })?;
    let warnings = said(printer, &plan.warnings);
    let under_way = start(plan, printer, cancel, true).await?;
    Ok(finish(under_way, false).await?.warned(warnings))
}

pub fn output(global: &Global, options: &OutputOptions) -> Result<Answer, Failure> {
    let output = find(global, &options.list)?.output(&options.task, options.attempt)?;
    Ok(Answer::new(Outcome::Passed, visible(output.text.trim_start()), &output))
}

pub fn stop(global: &Global, options: &ListOptions) -> Result<Answer, Failure> {
    let stop = find(global, options)?.stop()?;
    let text = match &stop.holder {
        None => "no run is under way\n".to_owned(),
        Some(holder) => format!("the run stops after its current tasks ({holder})\n"),
    };
    Ok(Answer::new(Outcome::Passed, text, stop))
}

pub fn find(global: &Global, options: &ListOptions) -> Result<List, Failure> {
    List::find(global.config.as_deref(), options.prefix.as_deref())
}

/// The list of a run, with the trusted configuration.
async fn find_for_gate(global: &Global, options: &ListOptions, how: &SwitchOptions) -> Result<List, Failure> {
    List::find_for_gate(global.config.as_deref(), options.prefix.as_deref(), how.reviewer.clone()).await
}

fn people(plan: &Plan, cancel: &CancellationToken) -> Arc<TerminalGate> {
    Arc::new(TerminalGate { project: plan.list.project.clone(), cancel: cancel.clone() })
}

async fn start(
    plan: Plan,
    printer: &Printer,
    cancel: &CancellationToken,
    in_lines: bool,
) -> Result<UnderWay, Failure> {
    let listener = show::listener(printer.clone(), plan.list.layout.progress(), in_lines);
    let people = people(&plan, cancel);
    plan.start(people, Box::new(listener), cancel).await
}

/// Runs to the end with a screen. The run continues if the screen is closed.
async fn shown(under_way: UnderWay, json_result: bool, printer: &Printer) -> Result<Answer, Failure> {
    let over = CancellationToken::new();
    let (project, layout) = (under_way.list.project.clone(), under_way.list.layout.clone());
    let source = Source { project: &project, layout: &layout, engine: Some(under_way.engine()) };
    let finished = async {
        let _over = over.clone().drop_guard();
        finish(under_way, json_result).await
    };
    let shown = async {
        match show(source, over.clone()).await {
            Ok(Left::Quit) => {
                printer.note("the run continues: `countersign tui` shows it again, Ctrl-C stops it")
            }
            Err(failure) => printer.warn(std::slice::from_ref(&failure.message)),
            Ok(Left::Closed | Left::Cancelled) => {}
        }
    };
    tokio::join!(finished, shown).0
}

/// Warnings are printed at the start of a run, which may take hours; the JSON at its end has them too.
fn said(printer: &Printer, warnings: &[String]) -> Vec<String> {
    printer.warn(warnings);
    if printer.json() { warnings.to_vec() } else { vec![] }
}

async fn finish(under_way: UnderWay, json_result: bool) -> Result<Answer, Failure> {
    let (outcome, results) = under_way.finish().await?;
    let mut answer = Answer::new(outcome, show::results(&results), &results);
    let report = Report::of_run(&answer.json, &results, vec![]);
    answer = answer.reporting(report);
    if json_result {
        answer.text = json_line(&answer.json.own);
    }
    Ok(answer)
}

fn ordered(tasks: &[Task]) -> Answer {
    let line = |task: &Task| format!("{}  {}  {}\n", task.id, task.priority.word(), visible_line(&task.name));
    let text: String = match tasks.is_empty() {
        true => "nothing to do: no task can run\n".to_owned(),
        false => tasks.iter().map(line).collect(),
    };
    Answer::new(Outcome::Passed, text, Order { order: tasks.iter().map(|task| task.id.clone()).collect() })
}
