//! The results of a self-review, submitted by the author.

use crate::Failure;
use crate::find::{meant, no_ledger};
use crate::project::Project;
use countersign_engine::engine::{Engine, SelfReviewResults, Ticket};
use std::path::Path;

/// Takes the results for the files as they are now. `from` is the path for error messages.
pub async fn rule(
    project: &Project,
    typed: &str,
    from: &Path,
    read: impl FnOnce() -> std::io::Result<String>,
) -> Result<(Engine, Ticket), Failure> {
    if project.existing_ledger().await?.is_none() {
        return Err(no_ledger());
    }
    let unusable = |words: String| {
        Failure::usage(format!("the results in `{}` cannot be used: {words}", from.display()))
    };
    let text = read().map_err(|error| unusable(error.to_string()))?;
    let results: SelfReviewResults = serde_json::from_str(&text).map_err(|error| {
        unusable(error.to_string()).hint(
            "the form is {\"token\": \"sr-…\", \"results\": [{\"criterion\": \"…\", \"passed\": true}]}",
        )
    })?;
    let engine = project.engine(project.planner_with_self()?).await?;
    let id = meant(project, engine.ledger(), typed).await?;
    let ticket = engine.self_reviewed(&id, results).await?;
    Ok((engine, ticket))
}
