//! `countersign rule`: hand in the results of a self-review.

use super::arguments::RuleOptions;
use super::{Failure, Global};
use crate::output::{Answer, Printer};
use countersign_app::find::{meant, no_ledger};
use countersign_app::project::Project;
use countersign_engine::engine::SelfReviewResults;
use std::io::Read;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Longer results are not a review any more.
const RESULTS_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// Takes the results for the files as they are now, and judges them.
pub async fn run(
    global: &Global,
    options: RuleOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    if project.existing_ledger().await?.is_none() {
        return Err(no_ledger());
    }
    let results = read(&options.from)?;
    let planner = project.planner_with_self()?;
    let engine = project.engine(planner).await?;
    let id = meant(&project, engine.ledger(), &options.id).await?;
    let ticket = engine.self_reviewed(&id, results).await?;
    super::review::conclude(&engine, &ticket, printer, cancel, "run the review again", vec![]).await
}

fn read(from: &Path) -> Result<SelfReviewResults, Failure> {
    let shown = from.display();
    let failure = |words: String| Failure::usage(format!("the results in `{shown}` cannot be used: {words}"));
    let mut text = String::new();
    let read = match from == Path::new("-") {
        true => std::io::stdin().take(RESULTS_LIMIT_BYTES).read_to_string(&mut text),
        false => std::fs::File::open(from)
            .and_then(|file| file.take(RESULTS_LIMIT_BYTES).read_to_string(&mut text)),
    };
    read.map_err(|error| failure(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| {
        failure(error.to_string()).hint(
            "the form is {\"token\": \"sr-…\", \"results\": [{\"criterion\": \"…\", \"passed\": true}]}",
        )
    })
}
