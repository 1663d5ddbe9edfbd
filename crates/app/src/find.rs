//! Finds the review that a text names: an id, the beginning of one, a subject, or a name of a door.

use crate::doors::{CLI, DOORS, GATE};

use crate::project::Project;
use crate::{Code, Failure};
use countersign_core::ids::{ReviewId, Subject};
use countersign_engine::ledger::{Filter, Ledger};

/// The review by its id or a unique beginning of it, by its subject, or by its name in a door.
pub async fn meant(project: &Project, ledger: &Ledger, typed: &str) -> Result<ReviewId, Failure> {
    if typed.contains('/')
        && let Some(stored) = ledger.latest_for(&Subject::from_text(typed)).await?
    {
        return Ok(stored.review.id);
    }
    if let Some(id) = DOORS.find(project, ledger, typed).await? {
        return Ok(id);
    }
    let ids = if typed.contains('/') { vec![] } else { ledger.find(typed).await? };
    // A subject as it was given on the command line; an id wins where both fit.
    if ids.is_empty()
        && let Some(id) = given_on_command_line(ledger, typed).await?
    {
        return Ok(id);
    }
    match ids.as_slice() {
        [only] => Ok(only.clone()),
        [] if ledger.find_imported(typed).await?.is_empty() => Err(not_found(typed)),
        [] => Err(Failure::not_found(format!(
            "`{typed}` was imported: it is shown, and counts for nothing here"
        ))
        .hint(format!("`countersign log {typed}` shows its events"))),
        several => {
            let ids: Vec<&str> = several.iter().map(ReviewId::as_str).collect();
            Err(ambiguous(format!("`{typed}` is the beginning of several reviews"))
                .hint(format!("type more of it: {}", ids.join(", "))))
        }
    }
}

/// The review of a subject that was named on the command line; where a gate and a question have it, the one opened last.
async fn given_on_command_line(ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let mut found = vec![];
    for door in [CLI, GATE] {
        found.extend(ledger.latest_for(&Subject::new(door, [typed])).await?);
    }
    found.sort_by_key(|stored| stored.opened_ms);
    Ok(found.pop().map(|stored| stored.review.id))
}

pub async fn latest(ledger: &Ledger) -> Result<ReviewId, Failure> {
    let rows = ledger.list(Filter { open_only: false, before: None, limit: 1 }).await?;
    rows.into_iter().next().map(|row| row.id).ok_or_else(no_ledger)
}

pub fn no_ledger() -> Failure {
    Failure::not_found("nothing has been judged in this project yet")
        .hint("start with `countersign review PATHS…`")
}

pub(crate) fn ambiguous(message: String) -> Failure {
    Failure { code: Code::Ambiguous, ..Failure::usage(message) }
}

pub fn not_found(typed: &str) -> Failure {
    Failure::not_found(format!("there is no review `{typed}`")).hint("`countersign log` lists all reviews")
}
