//! What to do first in a folder: at most three commands, for a person who typed `countersign` alone.

use crate::Failure;
use crate::answer::v1::{Answer, Start, Step};
use crate::log::reviews;
use crate::project::{Project, current_folder};
use countersign_core::outcome::Outcome;
use countersign_engine::git;
use countersign_engine::ledger::Filter;
use std::path::Path;

const STEPS: usize = 3;
const OPEN_ROWS: u32 = 50;

/// Looks at the project and changes nothing.
pub async fn start(config: Option<&Path>) -> Result<Answer<Start>, Failure> {
    let steps = match Project::find(config, None) {
        Err(failure) => vec![
            Step::new("countersign validate", &problem(&failure)),
            Step::new("countersign help configuration", "every key of countersign.yml"),
        ],
        Ok(project) if project.config.file.is_none() => vec![
            Step::new("countersign demo", "see a review: work fails, is fixed and passes; needs no model"),
            Step::new("countersign init", "write a first countersign.yml for this project"),
            Step::new("countersign help", "list topics and commands"),
        ],
        Ok(project) => configured(&project).await?,
    };
    // No work was judged: a script that meant to name a command must not see a pass.
    Ok(Answer::new(Some(Outcome::Usage), Start { next: steps.into_iter().take(STEPS).collect() }))
}

fn problem(failure: &Failure) -> String {
    match failure.diagnostics.first() {
        Some(first) => format!("the configuration has an error: {}", first.message),
        None => failure.message.clone(),
    }
}

async fn configured(project: &Project) -> Result<Vec<Step>, Failure> {
    let ledger = project.existing_ledger().await?;
    let filter = Filter { open_only: true, before: None, limit: OPEN_ROWS };
    let open = reviews(ledger.as_ref(), None, filter).await?.reviews;
    if let Some(ledger) = &ledger {
        ledger.clone().close().await;
    }
    let mut steps = vec![];
    for review in &open {
        let why = match review.row.outcome.map(|outcome| outcome.0) {
            Some(Outcome::AwaitingPerson) => "waits for a person",
            Some(Outcome::Stopped(_)) => "is stopped until a person decides",
            Some(Outcome::NeedsWork) => "needs work",
            _ => continue,
        };
        let why = format!("the review of {} {why}", review.row.subject);
        steps.push(Step::new(&format!("countersign show {}", review.row.id), &why));
    }
    if ledger.is_none() {
        steps.push(Step::new("countersign doctor", "check that everything a review needs is in place"));
    }
    if git::is_repository(&current_folder()?) {
        steps.push(Step::new("countersign review --change", "review all changes since the default branch"));
    }
    steps.push(Step::new("countersign review", "review all files that the rules match"));
    steps.push(Step::new("countersign status", "list open reviews, and count how reviews ended"));
    Ok(steps)
}
