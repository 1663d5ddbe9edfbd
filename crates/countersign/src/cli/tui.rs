//! `tui`: the screen of a run, beside it or without it.

use super::arguments::TuiOptions;
use super::run::find;
use super::{Failure, Global};
use crate::output::Answer;
use crate::tui::{Left, Source, show};
use countersign_core::outcome::Outcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Shows the tasks until somebody has seen enough.
pub async fn run(
    global: &Global,
    options: &TuiOptions,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let list = find(global, &options.list)?;
    let source = Source { project: &list.project, layout: &list.layout, engine: None };
    match show(source, cancel.clone()).await? {
        Left::Quit | Left::Closed => Ok(Answer::new(Outcome::Passed, "", json!({}))),
        Left::Cancelled => Err(Failure::interrupted()),
    }
}
