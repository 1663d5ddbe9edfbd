//! What can be typed for task runs.

use clap::Args;
use countersign_app::run::{How, Request};
use countersign_doors::run::schedule::Which;

const RUN_HELP: &str = "\
Examples:
  countersign run                           the next task of spec/tasks.md
  countersign run --all                     every task, in order of dependencies and priority
  countersign run TASK-003 TASK-004         these
  countersign run --all --parallel          several at once, each in a git worktree of its own
  countersign run --all --hitl-review       a person decides about each task at this terminal
  countersign run --all --parallel --hitl-queue
                                            a person decides from another terminal: countersign approve TASK-003 …
  countersign run --all --dry-run           say what would run, and run nothing

Each task is done by an agent, tested, linted, judged, and merged only when it passed. Ctrl-C stops after the step that
is under way, a second one at once; the next run goes on from there.";

/// Which list of tasks is meant.
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
    pub how: HowOptions,
    /// Say what would run, and run nothing
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
pub struct HowOptions {
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

impl From<HowOptions> for How {
    fn from(options: HowOptions) -> Self {
        let HowOptions { hitl_review, hitl_queue, no_review, no_tests, no_commit, no_branch, .. } = options;
        let HowOptions { max_retries, budget_usd, reviewer, .. } = options;
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
        }
    }
}

impl From<RunOptions> for Request {
    fn from(options: RunOptions) -> Self {
        let which = match (options.tasks, options.milestone) {
            (tasks, _) if !tasks.is_empty() => Which::These(tasks),
            (_, Some(name)) => Which::Milestone(name),
            _ if options.all => Which::All,
            _ => Which::Next,
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
  countersign retry TASK-003           try it again, with what went wrong before
  countersign retry TASK-003 --fresh   throw away what is there of it first

What a person rejected is tried again by a person only.";

#[derive(Clone, Debug, Args)]
#[command(after_help = RETRY_HELP)]
pub struct RetryOptions {
    /// The task
    pub task: String,
    /// Throw away its branch first
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub how: HowOptions,
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

#[derive(Clone, Debug, Args)]
pub struct StopOptions {
    #[command(flatten)]
    pub list: ListOptions,
}
