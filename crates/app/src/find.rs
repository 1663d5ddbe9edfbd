//! Which review is meant by what was typed or sent: an id, the beginning of one, a subject, or what a dialect calls it.

use crate::project::Project;
use crate::tasks;
use crate::{Code, Failure};
use countersign_core::ids::{ReviewId, Subject};
use countersign_doors::jobs::overview::review_named;
use countersign_engine::ledger::{Filter, Ledger};

/// The review somebody means, also by its task.
pub async fn meant(project: &Project, ledger: &Ledger, typed: &str) -> Result<ReviewId, Failure> {
    match tasks::review_of(project, ledger, typed).await? {
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

/// The review that was opened last.
pub async fn latest(ledger: &Ledger) -> Result<ReviewId, Failure> {
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 1 }).await?;
    rows.into_iter().next().map(|row| row.id).ok_or_else(no_ledger)
}

/// There is nothing to show yet.
pub fn no_ledger() -> Failure {
    Failure::not_found("nothing has been judged in this project yet")
        .hint("begin with `countersign review PATHS…`")
}

fn ambiguous(message: String) -> Failure {
    Failure { code: Code::Ambiguous, ..Failure::usage(message) }
}

/// There is no such review.
pub fn not_found(typed: &str) -> Failure {
    Failure::not_found(format!("there is no review `{typed}`"))
        .hint("`countersign log` lists the reviews there are")
}
