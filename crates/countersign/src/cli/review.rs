//! `countersign review`: judge files against criteria.

use super::task::ReviewTaskOptions;
use super::{Failure, Global};
use crate::formats::Report;
use crate::output::{Answer, Printer, verdict_text};
use clap::Args;
use countersign_app::authority::FlagsFrom;
use countersign_app::change::Base;
use countersign_app::project::{Project, current_folder};
use countersign_app::review;
use countersign_app::review_request::{Narrowed, ReviewRequest, Words};
use countersign_app::staged::Staged;
use countersign_app::task::When;
use countersign_core::criterion::Criterion;
use countersign_doors::service::plan;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, Ticket};
use countersign_engine::ledger::Stored;
use countersign_engine::programs::Vendor;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

const REVIEW_HELP: &str = "\
Examples:
  countersign review                                    judge all files the rules of countersign.yml name
  countersign review docs/guide.md --subject guide      attempts are counted
  countersign review plan.md --criterion 'Complete=Is every step spelled out?' --reviewer command:./judge
  countersign review docs --dry-run                     show the questions, ask no reviewer
  countersign review --change                           all work since the default branch, committed or not
  countersign review --change --base HEAD~1             the same since another commit
  countersign review --since main                       the same since HEAD left main
  countersign review --staged                           exactly what git would commit now
  countersign review --rule docs --checks-only          a part of the rules, without asking a reviewer

A change is judged by the countersign.yml of its base commit, if that has one.";

#[derive(Debug, Default, Args)]
#[command(after_help = REVIEW_HELP)]
pub struct ReviewOptions {
    /// Files and folders to judge; without any, all files the rules name
    pub paths: Vec<PathBuf>,
    /// Judge everything that changed since the default branch: committed, staged, unstaged and untracked
    #[arg(long, conflicts_with = "paths")]
    pub change: bool,
    /// Judge what changed since HEAD left this commit or branch: --change with that base
    #[arg(long, value_name = "REF", conflicts_with_all = ["paths", "base", "task"])]
    pub since: Option<String>,
    /// Judge exactly what is staged, against the last commit or --base: what git would commit now
    #[arg(long, conflicts_with_all = ["paths", "task", "config_from"])]
    pub staged: bool,
    /// Ask only this configured rule; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["criterion", "task"])]
    pub rule: Vec<String>,
    /// Only what Countersign checks itself: no reviewer is asked
    #[arg(long, conflicts_with_all = ["criterion", "task"])]
    pub checks_only: bool,
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
    /// The reviewer: a configured name, auto (the first that answers), {programs},
    /// anthropic:MODEL, openai:MODEL, openai:MODEL@URL, command:PROGRAM, replay:FILE, self or checks
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// The agent that wrote the work: {authors}. Reviewers of other vendors are asked first; an
    /// agent that runs this command is recognised
    #[arg(long, value_name = "AGENT", value_parser = countersign_app::author::named)]
    pub author: Option<Vendor>,
    /// Judge as a gate does: by the trusted configuration only, whatever lies in the folder
    #[arg(long, conflicts_with_all = ["criterion", "guidance", "config_from", "max_inline_files", "rule", "checks_only"])]
    pub gate: bool,
    /// A name that stays the same over retries, so that attempts are counted
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Above this many files a question lists paths instead of contents; without it only the size counts
    #[arg(long, value_name = "N")]
    pub max_inline_files: Option<usize>,
    /// Ask again about work that passed; failures on unchanged bytes stay
    #[arg(long)]
    pub no_cache: bool,
    /// Show each question, and ask no reviewer
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

pub async fn run(
    global: &Global,
    options: ReviewOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    if let Some(id) = options.task {
        let ReviewOptions { base, reviewer, .. } = options;
        let options = ReviewTaskOptions { id, base, reviewer, session_log: None };
        return super::task::begin(global, plan::FILE, options, When::Now, printer, cancel).await;
    }
    let is_change = options.change || options.staged || options.since.is_some();
    if options.base.is_some() && !is_change {
        return Err(Failure::usage("--base needs --change, --staged or --task"));
    }
    let mut warnings = vec![];
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
    let (mut project, base) = project_and_base(&flags, &options, is_change, &mut warnings).await?;
    project.author = options.author.or(project.author);
    let project = project.beside_gate().await;
    let staged = match options.staged {
        true => Some(Staged::of(&project, &mut warnings).await?),
        false => None,
    };
    // What is staged is judged in a checkout of its own; the ledger is that of the project.
    let judged = staged.as_ref().map_or(&project, |staged| &staged.project);
    let change = match &base {
        Some(base) => Some(base.change(judged, &mut warnings).await?),
        None => None,
    };
    let planner = judged.planner(options.max_inline_files)?;
    let wanted = ReviewRequest { change, ..wanted(&project, &options).await? };
    let prepared = wanted.prepare(judged, &planner, &mut warnings).await?;
    if options.dry_run && printer.has_other_formats() {
        return Err(Failure::usage("--dry-run judges nothing, so there is nothing for a report")
            .hint("leave --format out, or take json"));
    }
    if options.dry_run {
        return super::review_preview::run(&project, &planner, &prepared, printer, warnings).await;
    }
    let (engine, unrecorded) = project.engine_of_question(planner).await?;
    warnings.extend(unrecorded);
    let ticket = engine.submit(prepared).await?;
    let stored = printer.during(&engine, engine.wait(&ticket, cancel)).await?;
    if let Some(staged) = &staged {
        staged.require_unchanged().await?;
    }
    answer(&project, &engine, (&ticket, &stored), printer, cancel, &again(&options), warnings).await
}

/// By what it is judged, and what a change is against.
async fn project_and_base(
    flags: &Flags,
    options: &ReviewOptions,
    is_change: bool,
    warnings: &mut Vec<String>,
) -> Result<(Project, Option<Base>), Failure> {
    if !is_change {
        let project = match options.gate {
            true => Project::for_gate(current_folder()?, flags, FlagsFrom::Caller).await?,
            false => Project::find(flags.config.as_deref(), options.reviewer.clone())?,
        };
        warnings.extend(project.notices());
        return Ok((project, None));
    }
    let since = match &options.since {
        Some(since) => Some(review::since(since).await?),
        None => None,
    };
    let named = since.as_deref().or(options.base.as_deref());
    let base = match options.gate {
        true => review::gate_base(flags, named).await?,
        false if options.staged => review::staged_base(flags, named).await?,
        false => review::base(flags, named, options.config_from == Some(ConfigFrom::Worktree)).await?,
    };
    Ok((base.project.clone(), Some(base)))
}

/// Waits for the end of a round, prints the answer and notes that it was read.
pub async fn conclude(
    project: &Project,
    engine: &Engine,
    ticket: &Ticket,
    printer: &Printer,
    cancel: &CancellationToken,
    again: &str,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    let stored = printer.during(engine, engine.wait(ticket, cancel)).await?;
    answer(project, engine, (ticket, &stored), printer, cancel, again, warnings).await
}

/// Prints the answer of a round that has ended.
async fn answer(
    project: &Project,
    engine: &Engine,
    (ticket, stored): (&Ticket, &Stored),
    printer: &Printer,
    cancel: &CancellationToken,
    again: &str,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    let answer = review::answer(project, engine, ticket, stored, again, warnings).await?;
    let hints = if printer.quiet { &[] } else { answer.own.next.as_slice() };
    let text = verdict_text(&answer.own, hints, false);
    let report = Report::of_verdict(&answer);
    let answer =
        delivered(Answer::of(answer, text).reporting(report), engine, Some(ticket), printer, cancel).await?;
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// Prints an answer. Only one that was read counts as delivered; otherwise the same submission gets it again.
pub async fn delivered(
    answer: Answer,
    engine: &Engine,
    ticket: Option<&Ticket>,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    if let (true, Some(ticket)) = (printer.print(&answer) && !cancel.is_cancelled(), ticket) {
        engine.delivered(ticket).await?;
    }
    Ok(Answer { printed: true, ..answer })
}

fn again(options: &ReviewOptions) -> String {
    match &options.subject {
        Some(subject) => format!("run the same command again (--subject {subject})"),
        None => "run the same command again".to_owned(),
    }
}

pub async fn wanted(project: &Project, options: &ReviewOptions) -> Result<ReviewRequest, Failure> {
    let notes = match &options.notes {
        None => None,
        Some(path) => Some(review::notes(&project.here.join(path)).await?),
    };
    Ok(ReviewRequest {
        paths: options.paths.clone(),
        change: None,
        criteria: options.criterion.iter().map(|typed| criterion(typed)).collect::<Result<_, _>>()?,
        each_file: options.each_file,
        narrowed: Narrowed { rules: options.rule.clone(), checks_only: options.checks_only },
        guidance: options.guidance.clone(),
        notes,
        subject: review::subject(options.subject.as_deref(), options.gate)?,
        is_loop: options.subject.is_some(),
        fresh: options.no_cache,
        words: Words {
            criteria: "--criterion",
            criteria_example: "--criterion NAME=QUESTION",
            paths: "PATHS",
        },
    })
}

fn criterion(typed: &str) -> Result<Criterion, Failure> {
    let wrong = || {
        Failure::usage(format!("--criterion `{typed}` is not NAME=QUESTION"))
            .hint("for example --criterion 'Complete=Is every step spelled out?'")
    };
    let (name, question) = typed.split_once('=').ok_or_else(wrong)?;
    match (name.trim(), question.trim()) {
        ("", _) | (_, "") => Err(wrong()),
        (name, question) => Ok(Criterion::must(name, question)),
    }
}
