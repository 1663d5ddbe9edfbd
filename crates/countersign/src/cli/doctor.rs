//! `countersign doctor`: whether everything a review needs is in place, line by line, with what to do.

use super::{Failure, Global};
use crate::output::{Answer, Printer, bold, dim, paint_outcome};
use clap::Args;
use countersign_app::answer::v1::{self, Check, CheckState, Checks};
use countersign_app::doctor::doctor;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use tokio_util::sync::CancellationToken;

const DOCTOR_HELP: &str = "\
Examples:
  countersign doctor                                      check everything, start no reviewer
  countersign doctor --ask                                also ask every reviewer one small question
  countersign doctor --ask --reviewer command:./judge.sh  try a reviewer that is not configured yet

Exit codes: 0 usable, 2 the configuration is wrong, 4 a reviewer is not usable.";

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorOptions {
    /// Ask every reviewer one small question; without this no reviewer is started
    #[arg(long)]
    pub ask: bool,
    /// Check this reviewer only: a configured name, {programs}, command:PROGRAM, replay:FILE, self or checks
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
}

pub async fn run(
    global: &Global,
    options: DoctorOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let note = |words: &str| printer.note(words);
    let config = global.config.as_deref();
    Ok(answer(doctor(config, options.reviewer, options.ask, &note, cancel).await?))
}

pub fn answer(answer: v1::Answer<Checks>) -> Answer {
    let lines = &answer.own.lines;
    let width = lines.iter().map(|line| line.what.chars().count()).max().unwrap_or_default();
    let text: String = lines.iter().map(|line| text(line, width)).collect();
    Answer::of(answer, text)
}

fn text(line: &Check, width: usize) -> String {
    let (outcome, word) = match line.state {
        CheckState::Ok => (Outcome::Passed, "ok"),
        CheckState::Warn => (Outcome::NeedsWork, "warn"),
        CheckState::Fail => (Outcome::Internal, "fail"),
    };
    let state = paint_outcome(Some(outcome), &format!("{word:<4}"));
    #[expect(clippy::cast_precision_loss, reason = "no answer takes that long")]
    let took = line.elapsed_ms.map(|ms| dim(&format!(" ({:.1} s)", ms as f64 / 1000.0))).unwrap_or_default();
    let mut out = format!("{state}  {:<width$}  {}{took}\n", visible_line(&line.what), line.detail);
    if let Some(hint) = &line.hint {
        out.push_str(&format!("      {:<width$}  {} {}\n", "", bold("help:"), visible_line(hint)));
    }
    out
}
