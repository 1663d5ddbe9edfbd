//! All commands: the options of each are in its own file, the headings of the help are a table here.

use super::decide::{self, DecideOptions, WithdrawOptions};
use super::*;
use crate::formats::Wanted;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// The headings of `countersign --help`, and the commands below each.
pub const HEADINGS: &[(&str, &[&str])] = &[
    ("Judge", &["review", "ci", "rule", "dispute"]),
    ("Decide (people only, recorded)", &["approve", "reject", "fix", "skip", "unblock", "withdraw"]),
    ("Look", &["status", "show", "log", "costs", "watch", "tui", "reconcile", "ledger"]),
    ("Doors", &["run", "retry", "output", "stop", "task", "hook", "qr", "mcp", "serve", "open"]),
    (
        "Set up",
        &[
            "init",
            "baseline",
            "trust",
            "doctor",
            "validate",
            "config",
            "notify",
            "demo",
            "completions",
            "help",
        ],
    ),
];

/// The gate between "the agent says it is done" and "it is done".
#[derive(Debug, Parser)]
#[command(name = "countersign", version, propagate_version = true, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options every command takes.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// Print JSON, including errors
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the answer as text, json, github, sarif, junit, gitlab, rdjson or markdown, or write it to
    /// a file; may be repeated
    #[arg(long, global = true, value_name = "FORMAT[=FILE]")]
    pub format: Vec<Wanted>,
    /// Print no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Log to standard error; twice: also the programs that are started; three times: everything
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colours: in a terminal (auto), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub color: Color,
    /// Use this configuration file instead of the project's countersign.yml
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// In a terminal
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a first countersign.yml for this project, or set up an agent (--agent)
    Init(init::InitOptions),
    /// Record today's findings, so that only new ones block
    Baseline(baseline::BaselineOptions),
    /// Say once how work is judged here: gates use nothing else (people only)
    Trust(trust::TrustOptions),
    /// Check that everything a review needs is in place
    Doctor(doctor::DoctorOptions),
    /// Judge files or a change against criteria
    Review(Box<review::ReviewOptions>),
    /// Judge what a CI job is about: a pull request, a merge queue, a push
    Ci(ci::CiOptions),
    /// Show a review: verdict, findings, who ruled
    Show(show::ShowOptions),
    /// List reviews, or the events of one review
    Log(log::LogOptions),
    /// Back up, export, import or prune the ledger
    Ledger(ledger::LedgerOptions),
    /// List open reviews, and count how reviews ended
    Status,
    /// Set files right that disagree with the ledger
    Reconcile(reconcile::ReconcileOptions),
    /// Let an agent do the tasks of spec/tasks.md; merge what passes
    Run(Box<run::RunOptions>),
    /// Run a task again that failed or was rejected
    Retry(Box<run::RetryOptions>),
    /// Show the output of agent, tests and reviewers for a task
    #[command(visible_alias = "logs")]
    Output(run::OutputOptions),
    /// Stop a run after the tasks that are running now
    Stop(run::ListOptions),
    /// Review tasks of PLAN.md, or of any orchestrator, when their work is done
    Task(Box<task::TaskOptions>),
    /// Called by agent programs when an agent stops: hold it until its work passes
    Hook(hook::HookOptions),
    /// Show what questions cost, by day, reviewer and model
    Costs(costs::CostsOptions),
    /// Hand in the results of a self-review
    Rule(rule::RuleOptions),
    /// Let a review pass, whatever its verdict
    Approve(DecideOptions),
    /// Stop a review for good
    Reject(DecideOptions),
    /// Let a review pass without a verdict
    Skip(DecideOptions),
    /// Send a review back to its author with its findings
    Fix(DecideOptions),
    /// Dispute a finding with evidence
    Dispute(dispute::DisputeOptions),
    /// Let a stopped review continue
    Unblock(DecideOptions),
    /// Take a submission back; agents may until a round failed
    Withdraw(WithdrawOptions),
    /// Check configuration, rules, jobs and state files without a reviewer
    Validate(validate::ValidateOptions),
    /// Show the settings in force
    Config(config::ConfigOptions),
    /// Serve agents over MCP: submit work, and go through jobs
    Mcp(mcp::McpOptions),
    /// Serve reviews, tasks, decisions and events over HTTP on this machine
    Serve(serve::ServeOptions),
    /// Open the page of this project in a browser: see and decide
    Open(serve::OpenOptions),
    /// Review in items, for planning agents: decompose, verify, fix, in one state file
    Qr(Box<qr::QrOptions>),
    /// See a review: work fails, is fixed and passes; needs no model
    Demo(demo::DemoOptions),
    /// Watch the tasks of a run on the whole screen, and decide about them
    #[command(after_help = tui::TUI_HELP)]
    Tui(run::ListOptions),
    /// Send a test notification on every channel that is switched on
    Notify(notify::NotifyOptions),
    /// Print the events of this project as they happen
    Watch(watch::WatchOptions),
    /// The human gate alone, for tests
    #[cfg(debug_assertions)]
    #[command(name = "__ask", hide = true)]
    AskFixture(ask_fixture::AskFixtureOptions),
    /// Print a completion script for a shell
    Completions(complete::CompletionsOptions),
    /// Explain a topic or a command
    Help(help::HelpOptions),
}

pub async fn dispatch(
    arguments: Arguments,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let Arguments { global, command } = arguments;
    let Some(command) = command else { return start::run(&global).await };
    match command {
        Command::Review(options) => review::run(&global, *options, printer, cancel).await,
        Command::Ci(options) => ci::run(&global, options, printer, cancel).await,
        Command::Show(options) => show::run(&global, options).await,
        Command::Log(options) => log::run(&global, options).await,
        Command::Ledger(options) => ledger::run(&global, options, printer).await,
        Command::Status => status::run(&global).await,
        Command::Reconcile(options) => reconcile::run(&global, options).await,
        Command::Rule(options) => rule::run(&global, options, printer, cancel).await,
        Command::Approve(options) => decide::run(&global, options, Action::Approve).await,
        Command::Reject(options) => decide::run(&global, options, Action::Reject).await,
        Command::Skip(options) => decide::run(&global, options, Action::Skip).await,
        Command::Fix(options) => decide::run(&global, options, Action::Fix).await,
        Command::Dispute(options) => dispute::run(&global, options, printer, cancel).await,
        Command::Unblock(options) => decide::run(&global, options, Action::Unblock).await,
        Command::Withdraw(options) => decide::withdraw(&global, options).await,
        Command::Init(options) => init::run(&global, &options, printer).await,
        Command::Baseline(options) => baseline::run(&global, options, printer, cancel).await,
        Command::Trust(options) => trust::run(&options, printer).await,
        Command::Doctor(options) => doctor::run(&global, options, printer, cancel).await,
        Command::Run(options) => run::run(&global, *options, printer, cancel).await,
        Command::Retry(options) => run::retry(&global, *options, printer, cancel).await,
        Command::Output(options) => run::output(&global, &options),
        Command::Stop(options) => run::stop(&global, &options),
        Command::Hook(options) => hook::run(&global, &options, cancel).await,
        Command::Costs(options) => costs::run(&global, options).await,
        Command::Tui(options) => tui::run(&global, &options, cancel).await,
        Command::Notify(options) => notify::run(&global, options).await,
        Command::Watch(options) => watch::run(&global, options, printer, cancel).await,
        Command::Validate(options) => validate::run(&global, &options),
        Command::Task(options) => task::run(&global, *options, printer, cancel).await,
        Command::Qr(options) => qr::run(&global, *options, printer, cancel).await,
        Command::Config(options) => config::run(&global, &options, printer).await,
        Command::Mcp(options) => mcp::run(global, options, cancel).await,
        Command::Serve(options) => serve::run(global, options, cancel).await,
        Command::Open(options) => serve::open(global, options, cancel).await,
        Command::Demo(options) => demo::run(options, printer, cancel).await,
        #[cfg(debug_assertions)]
        Command::AskFixture(options) => ask_fixture::run(&options, cancel).await,
        Command::Completions(options) => Ok(complete::run(&options)),
        Command::Help(options) => help::run(&options),
    }
}
