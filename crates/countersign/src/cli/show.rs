//! `countersign show`: one review, as it stands.

use super::arguments::ShowOptions;
use super::{Failure, Global};
use crate::output::{Answer, Reader, Spent, next_steps, verdict_json, verdict_text_with_names};
use crate::project::Project;
use countersign_core::ids::{ReviewId, Subject};
use countersign_doors::jobs::overview::review_named;
use countersign_engine::ledger::{Filter, Ledger, Stored};

/// Shows a review.
pub async fn run(global: &Global, options: ShowOptions) -> Result<Answer, Failure> {
    let project = Project::find(global, None)?;
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let id = match &options.id {
        Some(typed) => meant(&project, &ledger, typed).await?,
        None => latest(&ledger).await?,
    };
    let Some(stored) = ledger.review(&id).await? else { return Err(not_found(id.as_str())) };
    let answer = shown(&ledger, &stored).await?;
    ledger.close().await;
    // Showing is not judging: the command has done its work whatever it shows.
    Ok(answer.done())
}

/// A review as it stands. The answer is that of the review: whoever reads its outcome or exit code reads no pass that there
/// is none of.
pub async fn shown(ledger: &Ledger, stored: &Stored) -> Result<Answer, Failure> {
    let next = next_steps(&stored.review, "hand it in again", Reader::of_command());
    let spent = Spent::of(ledger, &stored.review).await?;
    let text = verdict_text_with_names(stored, &spent, &next);
    let json = verdict_json(stored, &spent, &next);
    Ok(match stored.review.standing() {
        Some(outcome) => Answer::new(outcome, text, json),
        None => Answer::pending(text, json),
    })
}

/// The review somebody means, also by its task.
pub async fn meant(project: &Project, ledger: &Ledger, typed: &str) -> Result<ReviewId, Failure> {
    match super::task::review_of(project, ledger, typed).await? {
        Some(id) => Ok(id),
        None => find(ledger, typed).await,
    }
}

/// The review somebody means by an id or a unique beginning of it, by its subject, or by what a dialect calls it.
pub async fn find(ledger: &Ledger, typed: &str) -> Result<ReviewId, Failure> {
    if typed.contains('/') {
        return named(ledger, typed).await;
    }
    if let Some(review) = of_task(ledger, typed).await? {
        return Ok(review);
    }
    match ledger.find(typed).await?.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(not_found(typed)),
        several => {
            let ids: Vec<&str> = several.iter().map(ReviewId::as_str).collect();
            Err(ambiguous(format!("`{typed}` is the beginning of several reviews"))
                .hint(format!("type more of it: {}", ids.join(", "))))
        }
    }
}

/// By its subject, as `log` shows it, or as `SESSION/STEP` of a workflow.
async fn named(ledger: &Ledger, typed: &str) -> Result<ReviewId, Failure> {
    if let Some(stored) = ledger.latest_for(&Subject::from_text(typed)).await? {
        return Ok(stored.review.id);
    }
    let found = review_named(ledger, typed).await;
    found.map_err(|refusal| Failure::internal(refusal.to_string()))?.ok_or_else(|| not_found(typed))
}

/// By the id of a task, such as TASK-003: its latest review.
async fn of_task(ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let is_id = typed.split_once('-').is_some_and(|(prefix, number)| {
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        prefix.starts_with(|c: char| c.is_ascii_uppercase())
            && prefix.chars().all(upper)
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
    });
    if !is_id {
        return Ok(None);
    }
    match ledger.subjects_of("run", typed).await?.as_slice() {
        [] => Ok(None),
        [only] => Ok(ledger.latest_for(only).await?.map(|stored| stored.review.id)),
        several => {
            let all: Vec<&str> = several.iter().map(Subject::as_str).collect();
            Err(ambiguous(format!("`{typed}` is a task of several lists"))
                .hint(format!("name the one you mean: {}", all.join(", "))))
        }
    }
}

async fn latest(ledger: &Ledger) -> Result<ReviewId, Failure> {
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 1 }).await?;
    rows.into_iter().next().map(|row| row.id).ok_or_else(no_ledger)
}

/// There is nothing to show yet.
pub fn no_ledger() -> Failure {
    Failure { code: "not_found", ..Failure::usage("nothing has been judged in this project yet") }
        .hint("begin with `countersign review PATHS…`")
}

fn ambiguous(message: String) -> Failure {
    Failure { code: "ambiguous", ..Failure::usage(message) }
}

fn not_found(typed: &str) -> Failure {
    Failure { code: "not_found", ..Failure::usage(format!("there is no review `{typed}`")) }
        .hint("`countersign log` lists the reviews there are")
}
