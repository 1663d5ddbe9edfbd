//! `countersign review`: judge files against criteria.

use super::arguments::{ConfigFrom, ReviewOptions};
use super::task::arguments::ReviewTaskOptions;
use super::{Failure, Global};
use crate::output::{Answer, Printer, Reader, Spent, next_steps, verdict_json, verdict_text};
use countersign_app::author;
use countersign_app::change;
use countersign_app::doors::CLI;
use countersign_app::project::{self, Project};
use countersign_app::wanted::{Wanted, Words};
use countersign_core::criterion::Criterion;
use countersign_core::ids::{ID_LETTERS, Subject, letters};
use countersign_core::outcome::Outcome;
use countersign_doors::service::plan;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, Ticket, self_review_file};
use countersign_engine::workspace;
use tokio_util::sync::CancellationToken;

const NOTES_LIMIT_BYTES: u64 = 1024 * 1024;

/// Judges, or with `--dry-run` shows what would be asked.
pub async fn run(
    global: &Global,
    options: ReviewOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    if let Some(id) = options.task {
        let ReviewOptions { base, reviewer, .. } = options;
        let options = ReviewTaskOptions { id, base, reviewer, session_log: None };
        return super::task::review(global, plan::FILE, options, printer, cancel).await;
    }
    if options.base.is_some() && !options.change {
        return Err(Failure::usage("--base needs --change or --task"));
    }
    let mut warnings = vec![];
    let (mut project, change) = match options.change {
        false => (Project::find(global.config.as_deref(), options.reviewer.clone())?, None),
        true => {
            let base = base(global, &options).await?;
            let change = base.change(&mut warnings).await?;
            (base.project, Some(change))
        }
    };
    project.author = options.author.or(project.author);
    let planner = project.planner(options.max_inline_files)?;
    let wanted = Wanted { change, ..wanted(&project, &options).await? };
    let prepared = wanted.prepare(&project, &planner, &mut warnings).await?;
    if options.dry_run {
        return super::review_preview::run(&project, &planner, &prepared, printer, warnings).await;
    }
    let engine = project.engine(planner).await?;
    let ticket = engine.submit(prepared).await?;
    conclude(&engine, &ticket, printer, cancel, &again(&options), warnings).await
}

/// What a change is against.
async fn base(global: &Global, options: &ReviewOptions) -> Result<change::Base, Failure> {
    let from_worktree = options.config_from == Some(ConfigFrom::Worktree);
    if from_worktree && author::is_agent() {
        return Err(Failure::usage(
            "--config-from worktree is for people: a change does not choose its judge",
        )
        .hint("leave it out, or have a person run this"));
    }
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
    let (here, environment) = (project::current_folder()?, project::environment());
    change::base(here, &flags, &environment, options.base.as_deref(), from_worktree).await
}

/// Waits for the end of a round, prints the answer and notes that it was read.
pub async fn conclude(
    engine: &Engine,
    ticket: &Ticket,
    printer: &Printer,
    cancel: &CancellationToken,
    again: &str,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    let stored = printer.progress().during(engine, engine.wait(ticket, cancel)).await?;
    let outcome = ticket.outcome(&stored);
    let mut next = next_steps(&stored.review, again, Reader::of_command());
    if outcome == Outcome::AwaitingPerson && stored.review.waits_for_self_review() {
        engine.renew_self_review(ticket).await?;
        let file = self_review_file(engine.ledger(), &ticket.review)?;
        next = vec![
            format!("review the work as {} says", file.display()),
            format!("then countersign rule {} --from RESULTS", ticket.review),
        ];
    }
    let spent = Spent::of(engine.ledger(), &stored.review).await?;
    let hints = if printer.quiet { &[] } else { next.as_slice() };
    let mut answer =
        Answer::new(outcome, verdict_text(&stored, &spent, hints), verdict_json(&stored, &spent, &next));
    answer.warnings = warnings;
    answer.warnings.extend(kept_failures(ticket.kept_failures(&stored)));
    answer.printed = true;
    // Only an answer that reached somebody is delivered; otherwise the same submission gets it again.
    if printer.print(&answer) && !cancel.is_cancelled() {
        engine.delivered(ticket).await?;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// What to say where `--no-cache` left failures standing.
fn kept_failures(count: usize) -> Option<String> {
    let failures = match count {
        0 => return None,
        1 => "1 failure stands".to_owned(),
        n => format!("{n} failures stand"),
    };
    Some(format!(
        "{failures} on unchanged bytes, and --no-cache does not ask about it again: change the work, or dispute the \
         finding (countersign dispute FINDING --evidence TEXT)"
    ))
}

/// The command that hands the same in again.
fn again(options: &ReviewOptions) -> String {
    match &options.subject {
        Some(subject) => format!("run the same command again (--subject {subject})"),
        None => "run the same command again".to_owned(),
    }
}

/// What the flags ask for.
pub async fn wanted(project: &Project, options: &ReviewOptions) -> Result<Wanted, Failure> {
    let notes = match &options.notes {
        None => None,
        Some(path) => Some(notes(&project.here.join(path)).await?),
    };
    Ok(Wanted {
        paths: options.paths.clone(),
        change: None,
        criteria: options.criterion.iter().map(|typed| criterion(typed)).collect::<Result<_, _>>()?,
        each_file: options.each_file,
        guidance: options.guidance.clone(),
        notes,
        subject: subject(options)?,
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

async fn notes(path: &std::path::Path) -> Result<String, Failure> {
    let read = workspace::read_notes(path, NOTES_LIMIT_BYTES).await;
    read.map_err(|error| Failure::usage(format!("the notes in `{}` cannot be read: {error}", path.display())))
}

/// Unnamed work is looked at once; a name makes it a loop.
fn subject(options: &ReviewOptions) -> Result<Subject, Failure> {
    match &options.subject {
        Some(name) if name.trim().is_empty() => Err(Failure::usage("--subject needs a name")),
        Some(name) => Ok(Subject::new(CLI, [name.as_str()])),
        None => {
            let mut random = [0; ID_LETTERS];
            getrandom::fill(&mut random).map_err(|error| Failure::internal(error.to_string()))?;
            Ok(Subject::new(CLI, [letters(random).as_str()]))
        }
    }
}
