//! `countersign rule`: submits the results of a self-review.

use super::{Failure, Global};
use crate::output::{Answer, Printer};
use clap::Args;
use countersign_app::project::Project;
use countersign_app::rule::rule;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub struct RuleOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow
    pub id: String,
    /// The results, as the instructions of the self-review describe them; - for standard input
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
}

/// Longer results are refused.
const RESULTS_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

pub async fn run(
    global: &Global,
    options: RuleOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let (engine, ticket) = rule(&project, &options.id, &options.from, || read(&options.from)).await?;
    super::review::conclude(&project, &engine, &ticket, printer, cancel, "run the review again", vec![]).await
}

fn read(from: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    match from == Path::new("-") {
        true => std::io::stdin().take(RESULTS_LIMIT_BYTES).read_to_string(&mut text)?,
        false => std::fs::File::open(from)?.take(RESULTS_LIMIT_BYTES).read_to_string(&mut text)?,
    };
    Ok(text)
}
