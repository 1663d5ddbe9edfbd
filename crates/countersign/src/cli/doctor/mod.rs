//! `countersign doctor`: whether everything a review needs is in place, line by line, with what to do.
//!
//! Looking starts no program of the user's: those are asked with `--ask` only, one small question each.

mod ask;
mod line;
mod reviewers;
mod surroundings;

use super::arguments::DoctorOptions;
use super::{Failure, Global};
use crate::output::{Answer, Printer};
use countersign_app::project::{Project, guard_program};
use countersign_core::outcome::Outcome;
use countersign_engine::process::GuardProgram;
pub use line::Line;
use line::State;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Looks at everything, and with `--ask` asks every reviewer.
pub async fn run(
    global: &Global,
    options: DoctorOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let guard = guard_program()?;
    let mut lines = vec![surroundings::guard(&guard, cancel).await, surroundings::git(&guard, cancel).await];
    match Project::find(global.config.as_deref(), options.reviewer) {
        Err(failure) => lines.push(surroundings::unusable_configuration(&failure)),
        Ok(project) => {
            lines.extend(surroundings::configuration(&project));
            lines.push(surroundings::ledger(&project).await);
            let asking = Asking { project: &project, guard: &guard, printer, cancel };
            for (name, panelist) in project.each_reviewer() {
                lines.extend(asking.look(&name, panelist, options.ask).await?);
            }
        }
    }
    match cancel.is_cancelled() {
        true => Err(Failure::interrupted()),
        false => Ok(answer(&lines)),
    }
}

/// What it takes to look at a reviewer.
struct Asking<'a> {
    project: &'a Project,
    guard: &'a GuardProgram,
    printer: &'a Printer,
    cancel: &'a CancellationToken,
}

/// All lines, and how the command ends.
pub fn answer(lines: &[Line]) -> Answer {
    let failed = lines.iter().filter_map(|line| match line.state {
        State::Fail(outcome) => Some(outcome),
        State::Ok | State::Warn => None,
    });
    let outcome = Outcome::worst(failed).unwrap_or(Outcome::Passed);
    let width = lines.iter().map(Line::width).max().unwrap_or_default();
    let text: String = lines.iter().map(|line| line.text(width)).collect();
    let json: Vec<Value> = lines.iter().map(Line::json).collect();
    Answer::new(outcome, text, json!({ "lines": json }))
}
