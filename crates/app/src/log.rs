//! History: reviews, newest first, or the events of one, in order.

use crate::Failure;
use crate::answer::v1::{Answer, Entry, Events, Log, ReviewRow, Reviews, Row};
use crate::doors::DOORS;
use crate::find::{meant, no_ledger};
use crate::project::Project;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_core::review::{Round, State};
use countersign_engine::ledger::{self, Filter, Ledger};

/// How many reviews are read at once; filters may drop most of them.
const PAGE: u32 = 500;

#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// The events of this review instead of a list of reviews.
    pub id: Option<String>,
    pub limit: u32,
    /// Reviews opened before this one, or events after this number: the next page.
    pub from: Option<u64>,
    pub verify: bool,
    /// Only reviews that changed since then, in milliseconds.
    pub since_ms: Option<i64>,
    /// Only reviews with this outcome, by its name.
    pub outcome: Option<String>,
    /// Only reviews of this subject, as people type it.
    pub subject: Option<String>,
    /// Only reviews for which this reviewer could be asked.
    pub reviewer: Option<String>,
}

pub async fn log(project: &Project, wanted: &LogQuery) -> Result<Answer<Log>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let events_verified = if wanted.verify { Some(ledger.verify().await?) } else { None };
    let log = match &wanted.id {
        Some(typed) => {
            let id = meant(project, &ledger, typed).await?;
            let Events { events, more } =
                events(&ledger, &id, wanted.from.unwrap_or(0), wanted.limit).await?;
            let next = events.last().filter(|_| more).map(|entry| entry.n);
            Log { reviews: None, events: Some(events), more, next, events_verified }
        }
        None => {
            let (rows, next) = matching(&ledger, wanted).await?;
            let reviews = Some(rows.iter().map(Row::from).collect());
            Log { reviews, events: None, more: next.is_some(), next, events_verified }
        }
    };
    ledger.close().await;
    Ok(Answer::passed(log))
}

/// The reviews that match, newest first, and where the next page begins.
async fn matching(ledger: &Ledger, wanted: &LogQuery) -> Result<(Vec<ledger::Row>, Option<u64>), Failure> {
    let (mut found, mut before) = (vec![], wanted.from);
    loop {
        let filter = Filter { open_only: false, before, limit: PAGE.max(wanted.limit) };
        let (rows, more) = page(ledger, None, filter).await?;
        before = rows.last().map(|row| row.opened_seq).or(before);
        for row in rows {
            if !matches(ledger, wanted, &row).await? {
                continue;
            }
            if found.len() == wanted.limit as usize {
                return Ok((found, Some(row.opened_seq + 1)));
            }
            found.push(row);
        }
        if !more {
            return Ok((found, None));
        }
    }
}

async fn matches(ledger: &Ledger, wanted: &LogQuery, row: &ledger::Row) -> Result<bool, Failure> {
    let standing = row.standing.map_or("under_way", Outcome::name);
    let fits = wanted.since_ms.is_none_or(|since| row.changed_ms >= since)
        && wanted.outcome.as_deref().is_none_or(|outcome| outcome == standing)
        && wanted.subject.as_deref().is_none_or(|typed| DOORS.is_meant(row.subject.as_str(), typed));
    let Some(reviewer) = wanted.reviewer.as_deref().filter(|_| fits) else { return Ok(fits) };
    // Last, because it reads the whole review.
    let Some(stored) = ledger.review(&row.id).await? else { return Ok(false) };
    let asked = |round: &Round| {
        round.assignments.iter().flat_map(|one| &one.candidates).any(|one| one.reviewer == reviewer)
    };
    Ok(stored.review.rounds.iter().any(asked))
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

pub async fn events(ledger: &Ledger, id: &ReviewId, after_n: u64, limit: u32) -> Result<Events, Failure> {
    let mut entries = ledger.events(id, after_n, limit.saturating_add(1)).await?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    Ok(Events { events: entries.into_iter().map(Entry::from).collect(), more })
}
