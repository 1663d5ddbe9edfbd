//! `countersign stop`: asks a run to stop after the tasks that are under way.

use super::At;
use super::arguments::StopOptions;
use crate::cli::{Failure, Global};
use crate::output::Answer;
use countersign_core::outcome::Outcome;
use countersign_doors::run::lock;
use serde_json::json;

/// Asks for it.
pub fn run(global: &Global, options: &StopOptions) -> Result<Answer, Failure> {
    let at = At::find(global, &options.list)?;
    let failed =
        |error: std::io::Error| Failure::internal(format!("the run cannot be told to stop: {error}"));
    let Some(holder) = lock::holder(&at.layout.lock()).map_err(failed)? else {
        return Ok(Answer::new(Outcome::Passed, "no run is under way\n", json!({ "stopping": false })));
    };
    std::fs::write(at.layout.stop(), "").map_err(failed)?;
    let text = format!("it stops after the tasks that are under way ({holder})\n");
    Ok(Answer::new(Outcome::Passed, text, json!({ "stopping": true, "holder": holder })))
}
