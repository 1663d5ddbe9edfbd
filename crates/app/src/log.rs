//! History: reviews, newest first, or the events of one, in order.

use crate::Failure;
use crate::answer::v1::{Answer, Entry, Events, Log, ReviewRow, Reviews, Row};
use crate::find::{meant, no_ledger};
use crate::project::Project;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::review::State;
use countersign_engine::ledger::{self, Filter, Ledger};

/// Lists reviews, or the events of the one that is meant; `verify` checks the whole ledger.
pub async fn log(
    project: &Project,
    typed: Option<&str>,
    limit: u32,
    verify: bool,
) -> Result<Answer<Log>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let events_verified = if verify { Some(ledger.verify().await?) } else { None };
    let log = match typed {
        Some(typed) => {
            let id = meant(project, &ledger, typed).await?;
            let Events { events, more } = events(&ledger, &id, 0, limit).await?;
            Log { reviews: None, events: Some(events), more, events_verified }
        }
        None => {
            let filter = Filter { open_only: false, before: None, limit };
            let (rows, more) = page(&ledger, None, filter).await?;
            let reviews = Some(rows.iter().map(Row::from).collect());
            Log { reviews, events: None, more, events_verified }
        }
    };
    ledger.close().await;
    Ok(Answer::passed(log))
}

/// A page of reviews, newest first; without a ledger there are none.
pub async fn reviews(
    ledger: Option<&Ledger>,
    subject: Option<&Subject>,
    filter: Filter,
) -> Result<Reviews, Failure> {
    let Some(ledger) = ledger else { return Ok(Reviews { reviews: vec![], more: false, next_before: None }) };
    let (rows, more) = page(ledger, subject, filter).await?;
    let next_before = rows.last().filter(|_| more).map(|row| row.opened_seq);
    let reviews =
        rows.iter().map(|row| ReviewRow { row: row.into(), interrupted: is_interrupted(ledger, row) });
    Ok(Reviews { reviews: reviews.collect(), more, next_before })
}

async fn page(
    ledger: &Ledger,
    subject: Option<&Subject>,
    filter: Filter,
) -> Result<(Vec<ledger::Row>, bool), Failure> {
    let limit = filter.limit;
    // One more than asked for shows whether there are more.
    let filter = Filter { limit: limit.saturating_add(1), ..filter };
    let mut rows = match subject {
        Some(subject) => ledger.list_for(subject, filter).await?,
        None => ledger.list(filter).await?,
    };
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok((rows, more))
}

/// Whether a round is under way that no process performs any more.
fn is_interrupted(ledger: &Ledger, row: &ledger::Row) -> bool {
    row.state == State::Judging
        && row.standing.is_none()
        && !row.holder.as_deref().is_some_and(|holder| ledger.is_alive(holder))
}

/// A page of the events of a review, oldest first.
pub async fn events(ledger: &Ledger, id: &ReviewId, after_n: u64, limit: u32) -> Result<Events, Failure> {
    let mut entries = ledger.events(id, after_n, limit.saturating_add(1)).await?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    Ok(Events { events: entries.into_iter().map(Entry::from).collect(), more })
}
