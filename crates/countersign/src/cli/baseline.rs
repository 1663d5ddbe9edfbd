//! `countersign baseline`: today's findings as accepted debt, in a file that people review.

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::Args;
use countersign_app::answer::v1::baseline::{Baseline, BaselineFinding};
use countersign_app::answer::v1::{self};
use countersign_app::baseline;
use countersign_app::project::Project;
use countersign_app::review;
use countersign_app::review_request::{Narrowed, ReviewRequest, Words};
use countersign_core::text::{counted, visible_line};
use tokio_util::sync::CancellationToken;

/// How many findings are named.
const NAMED: usize = 20;

const BASELINE_HELP: &str = "\
Judges all files that the rules match, and writes what is found to countersign.baseline.json. Findings in that file
do not block any more; new ones do. A finding is known by its rule, its criterion and the text of its line, so it
may move, and two new findings never pass for two old ones. Review the file and commit it: gates read it only from
what a person trusts.

Examples:
  countersign baseline             record today's findings, and take out what is fixed
  countersign baseline --prune     only take out what is fixed";

#[derive(Debug, Default, Args)]
#[command(after_help = BASELINE_HELP)]
pub struct BaselineOptions {
    /// Only take out what is fixed; what is new is not added
    #[arg(long)]
    pub prune: bool,
    /// The reviewer to ask: as in `countersign review`
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

pub async fn run(
    global: &Global,
    options: BaselineOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), options.reviewer)?;
    let mut warnings = vec![];
    let planner = project.planner(None)?;
    let prepared = wanted()?.prepare(&project, &planner, &mut warnings).await?;
    let (engine, unrecorded) = project.engine_of_question(planner).await?;
    warnings.extend(unrecorded);
    let ticket = engine.submit(prepared).await?;
    let stored = printer.during(&engine, engine.wait(&ticket, cancel)).await?;
    let recorded = baseline::record(&project, &stored.review, options.prune);
    engine.ledger().clone().close().await;
    let (baseline, more) = recorded?;
    warnings.extend(more);
    let text = text(&baseline);
    Ok(Answer::of(v1::Answer::passed(baseline).warned(warnings), text))
}

fn wanted() -> Result<ReviewRequest, Failure> {
    Ok(ReviewRequest {
        paths: vec![],
        change: None,
        criteria: vec![],
        each_file: false,
        narrowed: Narrowed::default(),
        guidance: None,
        notes: None,
        subject: review::subject(None, false)?,
        is_loop: false,
        fresh: false,
        words: Words {
            criteria: "a rule in countersign.yml",
            criteria_example: "rules in countersign.yml",
            paths: "files",
        },
    })
}

fn text(baseline: &Baseline) -> String {
    let mut out = String::new();
    push(&mut out, "added", &baseline.added);
    push(&mut out, "fixed, and taken out", &baseline.fixed);
    push(&mut out, "not added, so it blocks", &baseline.left);
    for step in &baseline.next {
        out.push_str(&format!("next: {}\n", visible_line(step)));
    }
    let findings = counted(baseline.findings, "finding", "findings");
    let (added, fixed) = (baseline.added.len(), baseline.fixed.len());
    out.push_str(&format!("{}: {findings}, {added} added, {fixed} fixed\n", baseline.file));
    out
}

fn push(out: &mut String, what: &str, findings: &[BaselineFinding]) {
    for finding in findings.iter().take(NAMED) {
        let BaselineFinding { file, rule, criterion, message, .. } = finding;
        let place = file.as_deref().unwrap_or("(no file)");
        let message = message.as_deref().unwrap_or_default();
        let line = format!("{what}: {place}: {criterion} ({rule}): {message}");
        out.push_str(&format!("{}\n", visible_line(&line)));
    }
    if let Some(more) = findings.len().checked_sub(NAMED).filter(|more| *more > 0) {
        out.push_str(&format!("{what}: {more} more\n"));
    }
}
