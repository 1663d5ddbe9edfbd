//! `countersign ci`: the gate in a CI service.

use super::review::{delivered, wanted};
use super::{Failure, Global};
use crate::formats::{Format, Outputs, Report, Target};
use crate::output::{Answer, Printer, verdict_text};
use clap::Args;
use countersign_app::answer::v1::{self, ci::Ci};
use countersign_app::ci::{self, Wanted};
use countersign_app::review;
use countersign_app::review_request::ReviewRequest;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_engine::config::Flags;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

const CI_HELP: &str = "\
Examples:
  countersign ci                                        judge what the event of this job is about
  countersign ci --format sarif=countersign.sarif       the same, with a report for code scanning
  countersign ci --comment comment.md                   the same, with the body of a comment on the pull request
  countersign ci --base origin/main                     outside of a known service

What is compared comes from the event of GitHub (pull_request, merge_group, push) or GitLab; elsewhere it is the work since
the default branch. The default branch says how it is judged. On GitHub it writes annotations, the summary and the outputs of
the step. `countersign help ci` has complete files to copy.";

#[derive(Debug, Args)]
#[command(after_help = CI_HELP)]
pub struct CiOptions {
    /// The commit to compare with, in place of the event's
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Write the body of a comment; its first line is a mark, by which an earlier comment is found and updated
    #[arg(long, value_name = "FILE")]
    pub comment: Option<PathBuf>,
    /// The reviewer, in place of those of the default branch's configuration
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

impl CiOptions {
    /// Adds what a job wants beside what was typed.
    pub fn add_outputs(&self, outputs: &mut Outputs) {
        let comment = self.comment.iter().cloned();
        outputs.files.extend(comment.map(|path| Target { format: Format::Markdown, path, append: false }));
        outputs.add_of_job();
    }
}

pub async fn run(
    global: &Global,
    options: CiOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let flags = Flags { config: global.config.clone(), reviewer: options.reviewer.clone() };
    let written = printer.outputs.files.iter().map(|target| target.path.clone()).collect();
    let job = ci::job(&Wanted { flags, base: options.base, written }).await?;
    let planner = job.project.planner(None)?;
    let as_gate = super::review::ReviewOptions { gate: true, ..Default::default() };
    let request = ReviewRequest { change: Some(job.change.clone()), ..wanted(&job.project, &as_gate).await? };
    let mut warnings = job.warnings.clone();
    let prepared = match request.prepare(&job.project, &planner, &mut warnings).await {
        Ok(prepared) => prepared,
        Err(failure) => return job.without_rule(failure).map(nothing),
    };
    let engine = job.project.engine(planner).await?;
    let ticket = engine.submit(prepared).await?;
    let stored = printer.during(&engine, engine.wait(&ticket, cancel)).await?;
    let again = "push a commit with the fix";
    let answer = review::answer(&job.project, &engine, &ticket, &stored, again, warnings).await?;
    let hints = if printer.quiet { &[] } else { answer.own.next.as_slice() };
    let text = verdict_text(&answer.own, hints, false);
    let report = Report::of_verdict(&answer);
    let answer = Answer::of(job.judged(answer), text).reporting(report);
    let answer = delivered(answer, &engine, Some(&ticket), printer, cancel).await?;
    engine.ledger().clone().close().await;
    Ok(answer)
}

/// Said in one line.
fn nothing(answer: v1::Answer<Ci>) -> Answer {
    let words = answer.own.nothing_to_judge.clone().unwrap_or_default();
    let words = format!("{}: {words}", Outcome::NothingToJudge);
    let report = Report::of_nothing(words.clone(), &answer.own.not_covered, &answer.warnings);
    Answer::of(answer, format!("{}\n", visible_line(&words))).reporting(report)
}
