//! `tui`: the screen of a run, also while no run is active.

use super::run::{ListOptions, find};
use super::{Failure, Global};
use crate::output::Answer;
use crate::tui::{Left, Source, show};
use countersign_core::outcome::Outcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub const TUI_HELP: &str = "\
Examples:
  countersign tui                    the tasks of spec/tasks.md, during a run or without one
  countersign tui --prefix phase5-   those of spec/phase5-tasks.md

Everything is read from the files of the run, so it can be opened, closed and opened again at any time.";

pub async fn run(
    global: &Global,
    options: &ListOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let list = find(global, options)?;
    let source = Source { project: &list.project, layout: &list.layout, engine: None };
    match show(source, cancel.clone()).await? {
        Left::Quit | Left::Closed => Ok(Answer::new(Outcome::Passed, "", json!({}))),
        Left::Cancelled => Err(Failure::interrupted()),
    }
}
