//! `countersign review`: judge files against criteria.

use super::arguments::{ConfigFrom, ReviewOptions};
use super::task::arguments::ReviewTaskOptions;
use super::{Failure, Global};
use crate::output::{Answer, Printer, verdict_text};
use countersign_app::project::Project;
use countersign_app::review::{self, Since};
use countersign_app::wanted::{Wanted, Words};
use countersign_core::criterion::Criterion;
use countersign_doors::service::plan;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, Ticket};
use tokio_util::sync::CancellationToken;

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
            let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
            let config_from_worktree = options.config_from == Some(ConfigFrom::Worktree);
            let since = Since { base: options.base.clone(), config_from_worktree };
            let base = review::base(&flags, &since).await?;
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
    let answer = review::answer(engine, ticket, &stored, again, warnings).await?;
    let hints = if printer.quiet { &[] } else { answer.own.next.as_slice() };
    let text = verdict_text(&answer.own, hints, false);
    let mut answer = Answer::of(answer, text);
    answer.printed = true;
    // Only an answer that reached somebody is delivered; otherwise the same submission gets it again.
    if printer.print(&answer) && !cancel.is_cancelled() {
        engine.delivered(ticket).await?;
    }
    engine.ledger().clone().close().await;
    Ok(answer)
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
        Some(path) => Some(review::notes(&project.here.join(path)).await?),
    };
    Ok(Wanted {
        paths: options.paths.clone(),
        change: None,
        criteria: options.criterion.iter().map(|typed| criterion(typed)).collect::<Result<_, _>>()?,
        each_file: options.each_file,
        guidance: options.guidance.clone(),
        notes,
        subject: review::subject(options.subject.as_deref())?,
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
