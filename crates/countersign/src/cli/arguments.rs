//! What can be typed.

use super::dispute::DisputeOptions;
use super::help::hooks;
use super::notify::NotifyOptions;
use super::qr::arguments::QrOptions;
use super::run::arguments::{ListOptions, OutputOptions, RetryOptions, RunOptions, StopOptions};
use super::task::arguments::TaskOptions;
use super::watch::arguments::WatchOptions;
use clap::{Args, Parser, Subcommand};
use countersign_engine::programs::{Hook, PROGRAMS, Vendor};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Exit codes:
  0  passed, overridden or skipped      5  budget reached
  1  needs work                         6  stopped
  2  usage or configuration             7  integrity
  3  awaiting a person                  8  internal or storage
  4  no verdict                       130  interrupted";

/// The gate between "the agent says it is done" and "it is done".
#[derive(Debug, Parser)]
#[command(name = "countersign", version, after_help = AFTER_HELP, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options every command takes.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// Answer with one JSON object, errors too
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Log to standard error what happens; twice: programs that are started too; three times: everything
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// The configuration file instead of the project's countersign.yml
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a first countersign.yml for this project
    Init(InitOptions),
    /// See whether everything a review needs is in place
    Doctor(DoctorOptions),
    /// Judge files against criteria
    Review(Box<ReviewOptions>),
    /// Show a review: verdict, findings, who ruled
    Show(ShowOptions),
    /// History: reviews, or the events of one
    Log(LogOptions),
    /// What is open, and how reviews have ended
    Status,
    /// Have tasks of spec/tasks.md done by an agent, judged, and merged where they pass
    Run(Box<RunOptions>),
    /// Try a task again that failed or was rejected
    Retry(Box<RetryOptions>),
    /// Show what agent, tests and reviewers wrote about a task
    #[command(visible_alias = "logs")]
    Output(OutputOptions),
    /// Ask a run to stop after the tasks that are under way
    Stop(StopOptions),
    /// Tasks whose work is reviewed when it is done: those of PLAN.md, or of any orchestrator
    Task(Box<TaskOptions>),
    /// What agent programs call when an agent is about to stop: hold it while its work does not pass
    Hook(HookOptions),
    /// What questions have cost, by day, reviewer and model
    Costs(CostsOptions),
    /// Hand in the results of a self-review
    Rule(RuleOptions),
    /// Let a review pass, whatever its verdict (people only, recorded)
    Approve(DecideOptions),
    /// Stop a review for good (people only, recorded)
    Reject(DecideOptions),
    /// Let a review pass without a verdict (people only, recorded)
    Skip(DecideOptions),
    /// Send a review back to its author with what was found (people only, recorded)
    Fix(DecideOptions),
    /// Have a finding judged again that may be wrong, with evidence
    Dispute(DisputeOptions),
    /// Let a stopped review go on (people only, recorded)
    Unblock(DecideOptions),
    /// Take a submission back; after a failing round people only
    Withdraw(WithdrawOptions),
    /// Check configuration, rules, jobs and state files, asking nobody
    Validate(ValidateOptions),
    /// Show the settings in force
    Config(ConfigOptions),
    /// Serve agents over MCP: tools to hand work in, and to work through jobs
    Mcp(McpOptions),
    /// Offer reviews, tasks, decisions and events over HTTP on this machine
    Serve(ServeOptions),
    /// A review in items, for planning agents: decompose, verify, fix, in one state file
    Qr(Box<QrOptions>),
    /// See a submission judged, sent back, fixed and passed, without any model
    Demo(DemoOptions),
    /// Watch the tasks of a run, and decide about those that wait for a person
    Tui(TuiOptions),
    /// See whether you would be told: a test notification by every way that is switched on
    Notify(NotifyOptions),
    /// Print what happens in this project, live
    Watch(WatchOptions),
    /// The human gate alone, for tests
    #[cfg(debug_assertions)]
    #[command(name = "__ask", hide = true)]
    AskFixture(AskFixtureOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
}

impl Command {
    /// The command's name, as the answer in JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Doctor(_) => "doctor",
            Self::Review(_) => "review",
            Self::Show(_) => "show",
            Self::Log(_) => "log",
            Self::Status => "status",
            Self::Run(_) => "run",
            Self::Retry(_) => "retry",
            Self::Output(_) => "output",
            Self::Stop(_) => "stop",
            Self::Task(options) => options.command.name(),
            Self::Hook(_) => "hook",
            Self::Costs(_) => "costs",
            Self::Rule(_) => "rule",
            Self::Approve(_) => "approve",
            Self::Reject(_) => "reject",
            Self::Skip(_) => "skip",
            Self::Fix(_) => "fix",
            Self::Dispute(_) => "dispute",
            Self::Unblock(_) => "unblock",
            Self::Withdraw(_) => "withdraw",
            Self::Validate(_) => "validate",
            Self::Config(_) => "config",
            Self::Mcp(_) => "mcp",
            Self::Serve(_) => "serve",
            Self::Qr(options) => options.command.name(),
            Self::Demo(_) => "demo",
            Self::Tui(_) => "tui",
            Self::Notify(_) => "notify",
            Self::Watch(_) => "watch",
            #[cfg(debug_assertions)]
            Self::AskFixture(_) => "__ask",
            Self::Completions(_) => "completions",
        }
    }
}

const INIT_HELP: &str = "\
Examples:
  countersign init                                 look at the project and write rules for what is there
  countersign init --dry-run                       print the file and write nothing
  countersign init --reviewer command:./judge.sh   with questions for a reviewer, switched on
  countersign init --agent claude --agent codex    let these agents start `countersign mcp` in this project
  countersign init --agent all --dry-run           show what that would change for every installed agent
  countersign init --agent claude --remove         take it out again
  countersign init --agent claude --hook           hold agents that stop until what they changed passes

A countersign.yml that is there already is checked and left as it is; with --agent none is written.";

#[derive(Debug, Args)]
#[command(after_help = INIT_HELP)]
pub struct InitOptions {
    /// Who answers questions: {programs}, command:PROGRAM, replay:FILE or self
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Print what would be written and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Let this agent start `countersign mcp` in this project: {agents}, or all that
    /// are installed; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "reviewer")]
    pub agent: Vec<String>,
    /// With --agent: have the program call `countersign hook` when an agent stops, instead of starting the server
    #[arg(long, requires = "agent", conflicts_with = "external_runner")]
    pub hook: bool,
    /// With --agent: take the entry out again
    #[arg(long, requires = "agent", conflicts_with_all = ["force", "external_runner"])]
    pub remove: bool,
    /// With --agent: replace the arguments of an entry that has others
    #[arg(long, requires = "agent")]
    pub force: bool,
    /// With --agent: who reviews the outputs of steps; the server is started with the same option
    #[arg(long, value_name = "NAME", requires = "agent", value_parser = runner_name)]
    pub external_runner: Option<String>,
}

/// A name that can stand in a file and be read back as a value of its option.
fn runner_name(typed: &str) -> Result<String, String> {
    match typed.is_empty() || typed.starts_with('-') || typed.contains(char::is_control) {
        true => Err("a name does not begin with `-` and has no control characters".to_owned()),
        false => Ok(typed.to_owned()),
    }
}

const DOCTOR_HELP: &str = "\
Examples:
  countersign doctor                                      look at everything, start no program of yours
  countersign doctor --ask                                also ask every reviewer one small question
  countersign doctor --ask --reviewer command:./judge.sh  try one that is not configured yet

Exit codes: 0 usable, 2 the configuration is wrong, 4 a reviewer is not usable.";

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorOptions {
    /// Ask every reviewer one small question; programs of yours are not started otherwise
    #[arg(long)]
    pub ask: bool,
    /// Look at this reviewer only: a configured name, {programs}, command:PROGRAM, replay:FILE, self or checks
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

const REVIEW_HELP: &str = "\
Examples:
  countersign review                                    judge what countersign.yml says
  countersign review docs/guide.md --subject guide      as a loop: attempts are counted
  countersign review plan.md --criterion 'Complete=Is every step spelled out?' --reviewer command:./judge
  countersign review docs --dry-run                     show the questions, ask nobody
  countersign review --change                           all work since the default branch, committed or not
  countersign review --change --base HEAD~1             the same since another commit

A change is judged by the countersign.yml of the commit it is against, where that has one.";

#[derive(Debug, Default, Args)]
#[command(after_help = REVIEW_HELP)]
pub struct ReviewOptions {
    /// Files and folders to judge; without any, all that the rules are for
    pub paths: Vec<PathBuf>,
    /// Judge everything that changed since the default branch: committed, staged, unstaged and untracked
    #[arg(long, conflicts_with = "paths")]
    pub change: bool,
    /// Judge the work on a task, as `countersign task review` does
    #[arg(long, value_name = "ID", conflicts_with_all = ["paths", "change", "criterion", "subject", "notes", "dry_run"])]
    pub task: Option<String>,
    /// With --change or --task: the commit to compare with, instead of where HEAD left the default branch
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// With --change: judge by the countersign.yml of that commit (base) or by the one in the files (people only)
    #[arg(long, value_name = "WHERE", requires = "change")]
    pub config_from: Option<ConfigFrom>,
    /// A criterion instead of the configured rules; may be repeated
    #[arg(long, value_name = "NAME=QUESTION")]
    pub criterion: Vec<String>,
    /// With --criterion: ask about each file on its own
    #[arg(long, requires = "criterion")]
    pub each_file: bool,
    /// With --criterion: context for the reviewer
    #[arg(long, value_name = "TEXT", requires = "criterion")]
    pub guidance: Option<String>,
    /// A file with the author's notes
    #[arg(long, value_name = "FILE")]
    pub notes: Option<PathBuf>,
    /// Who is asked: a configured name, auto (the first that answers), {programs},
    /// command:PROGRAM, replay:FILE, self or checks
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// Whose model wrote the work: {authors}. Reviewers of other vendors are asked first; an
    /// agent that runs this command is recognised by itself
    #[arg(long, value_name = "AGENT", value_parser = countersign_app::author::named)]
    pub author: Option<Vendor>,
    /// What stays the same over retries: makes this a loop with counted attempts
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Above this many files a question lists paths instead of carrying contents; without it only the size counts
    #[arg(long, value_name = "N")]
    pub max_inline_files: Option<usize>,
    /// Ask again about what passed, although it stands; failures on unchanged bytes stand all the same
    #[arg(long)]
    pub no_cache: bool,
    /// Show each question and ask nobody
    #[arg(long)]
    pub dry_run: bool,
}

/// Whose countersign.yml a change is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfigFrom {
    /// That of the commit it is against.
    Base,
    /// The one in the files.
    Worktree,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow; without one, the latest
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub struct LogOptions {
    /// The events of this review instead of a list of reviews
    pub id: Option<String>,
    /// How many rows at most
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Check the whole ledger against its chain first
    #[arg(long)]
    pub verify: bool,
}

const HOOK_HELP: &str = "\
Examples:
  countersign init --agent claude --hook           has the program call it whenever an agent stops
  countersign init --agent claude --hook --remove  takes it out again

It reads what the program says about the stop on standard input, reviews what changed since the last pass, and answers in
the program's own form: findings go back to the agent as the reason to go on. Exit code 1 is a failure of the hook itself
and holds nobody; 2 is never used, because it would. docs/hooks.md says the rest.";

#[derive(Debug, Args)]
#[command(after_help = HOOK_HELP)]
pub struct HookOptions {
    /// The program that calls
    #[arg(value_parser = hooks(PROGRAMS))]
    pub program: Hook,
}

const COSTS_HELP: &str = "\
Examples:
  countersign costs            the last 30 days
  countersign costs --days 1   today (UTC)

Tokens and money are what reviewers report, or tokens at their configured price. What nobody said is unknown,
shown as ?, and never counted as nothing.";

#[derive(Debug, Args)]
#[command(after_help = COSTS_HELP)]
pub struct CostsOptions {
    /// How many days to look back, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
}

#[derive(Debug, Args)]
pub struct RuleOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
    /// The results, as the instructions of the self-review describe them; - for standard input
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
}

#[derive(Debug, Args)]
pub struct DecideOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
    /// Why; it is kept with the decision
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct WithdrawOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
}

#[derive(Debug, Args)]
pub struct ValidateOptions {
    /// State files (qr-PHASE.json) to check instead; without any, everything of the project and of STATE_DIR
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// Say where each setting comes from
    #[arg(long)]
    pub show_origin: bool,
    /// Print the JSON schema of countersign.yml
    #[arg(long)]
    pub schema: bool,
}

const MCP_HELP: &str = "\
Examples:
  countersign mcp                                      over standard input and output, for the project around here
  countersign mcp --path ../shop                       for another project
  countersign mcp --transport http --port 7331         over HTTP on loopback, with a token
  countersign init --agent claude                      tells an agent to start it in this project

Nothing but the protocol is written to standard output. docs/mcp.md has the tools, docs/agents.md the agents.";

#[derive(Debug, Args)]
#[command(after_help = MCP_HELP)]
pub struct McpOptions {
    /// The folder whose project is served, instead of this one
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// How clients reach the server
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Transport::Stdio)]
    pub transport: Transport,
    /// With --transport http: the port on 127.0.0.1; 0 takes a free one and says which
    #[arg(long, value_name = "N", required_if_eq("transport", "http"))]
    pub port: Option<u16>,
    /// With --transport http: let everybody on this machine in, for tools that cannot send a token
    #[arg(long, requires = "port")]
    pub no_token: bool,
    /// For workflows: who reviews the outputs of steps: {programs}, a configured name, auto
    /// (whoever is configured) or command:PROGRAM. Without it the agent is told to review its own work
    #[arg(long, value_name = "NAME")]
    pub external_runner: Option<String>,
    /// For workflows: finish steps without a review of their outputs
    #[arg(long)]
    pub no_quality_gate: bool,
    /// For workflows: the failing try of a step that stops it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_quality_attempts: Option<u32>,
    /// For workflows: how long a call waits for reviewers before it answers that they are still at work
    #[arg(long, value_name = "SECONDS", default_value_t = 45, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub wait_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Transport {
    /// Standard input and output: one client
    Stdio,
    /// Streamable HTTP on 127.0.0.1: any number of clients
    Http,
}

const SERVE_HELP: &str = "\
Examples:
  countersign serve              on port 7332; shows the token the first time
  countersign serve --port 0     on a free port, and says which
  curl http://127.0.0.1:7332/openapi.json      every request there is

With the token, so that it stands in no list of processes:
  curl -H @<(printf 'Authorization: Bearer %s' \"$(cat .countersign/serve-token)\") \\
    http://127.0.0.1:7332/v1/status

On 127.0.0.1 only. The token stands for you: whoever has it decides about reviews in your name,
so give it to programs of yours and to no agent. It is in .countersign/serve-token, readable by
you alone; delete the file to have a new one.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeOptions {
    /// The port on 127.0.0.1; 0 takes a free one and says which
    #[arg(long, value_name = "N", default_value_t = 7332)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Keep the demo's project in this new folder and look around in it afterwards
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

const TUI_HELP: &str = "\
Examples:
  countersign tui                    the tasks of spec/tasks.md, beside a run or without one
  countersign tui --prefix phase5-   those of spec/phase5-tasks.md

Everything is read from the files of the run, so it can be opened, closed and opened again at any time.";

#[derive(Debug, Args)]
#[command(after_help = TUI_HELP)]
pub struct TuiOptions {
    #[command(flatten)]
    pub list: ListOptions,
}

#[cfg(debug_assertions)]
#[derive(Debug, Args)]
pub struct AskFixtureOptions {
    /// What is asked about, as JSON
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}
