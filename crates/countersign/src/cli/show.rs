//! `countersign show`: one review, as it stands.

use super::arguments::ShowOptions;
use super::{Failure, Global};
use crate::output::{Answer, Reader, Spent, next_steps, verdict_json, verdict_text_with_names};
use countersign_app::doors::DOORS;
use countersign_app::find;
use countersign_app::project::Project;
use countersign_engine::ledger::{Ledger, Stored};

/// Shows a review.
pub async fn run(global: &Global, options: ShowOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    let Some(ledger) = project.existing_ledger().await? else { return Err(find::no_ledger()) };
    let id = match &options.id {
        Some(typed) => find::meant(&project, &ledger, typed).await?,
        None => find::latest(&ledger).await?,
    };
    let Some(stored) = ledger.review(&id).await? else { return Err(find::not_found(id.as_str())) };
    let answer = shown(&ledger, &stored).await?;
    ledger.close().await;
    // Showing is not judging: the command has done its work whatever it shows.
    Ok(answer.done())
}

/// A review as it stands. The answer is that of the review: whoever reads its outcome or exit code reads no pass that there
/// is none of.
pub async fn shown(ledger: &Ledger, stored: &Stored) -> Result<Answer, Failure> {
    let next = next_steps(&stored.review, DOORS.of(&stored.review.subject).again, Reader::of_command());
    let spent = Spent::of(ledger, &stored.review).await?;
    let text = verdict_text_with_names(stored, &spent, &next);
    let json = verdict_json(stored, &spent, &next);
    Ok(match stored.review.standing() {
        Some(outcome) => Answer::new(outcome, text, json),
        None => Answer::pending(text, json),
    })
}
