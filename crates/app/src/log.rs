//! History: reviews, newest first, or the events of one, in order.

use crate::answer::v1::{Answer, Entry, Events, ImportedRow, Log, ReviewRow, Reviews, Row};
use crate::author::actor;
use crate::doors::{CLI, DOORS, GATE};
use crate::find::{ambiguous, meant, no_ledger};
use crate::project::Project;
use crate::{Code, Failure};
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_core::review::{Round, State};
use countersign_engine::engine::withdraw_abandoned;
use countersign_engine::ledger::{self, Filter, Ledger, LedgerError};

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
    /// Reviews of other ledgers instead, which were imported.
    pub imported: bool,
    /// Hears how many events of how many are checked.
    pub tell: Option<fn(u64, u64)>,
    /// Only reviews that changed since then, in milliseconds.
    pub since_ms: Option<i64>,
    /// Only reviews with this outcome, by its name.
    pub outcome: Option<String>,
    /// Only reviews of this subject, as people type it.
    pub subject: Option<String>,
    /// Only reviews for which this reviewer could be asked.
    pub reviewer: Option<String>,
    /// Only reviews whose subject, or a file of which, has these words.
    pub words: Option<String>,
}

pub async fn log(project: &Project, wanted: &LogQuery) -> Result<Answer<Log>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else { return Err(no_ledger()) };
    let (mut events_verified, mut prunings) = (None, None);
    if wanted.verify {
        let tell = &mut |done, all| wanted.tell.iter().for_each(|tell| tell(done, all));
        events_verified = Some(ledger.verify_telling(tell).await.map_err(unverified)?);
        prunings = Some(ledger.prunings().await?.iter().map(|(_, pruning)| pruning.into()).collect());
    }
    let log = Log { events_verified, prunings, ..Log::default() };
    let log = match &wanted.id {
        Some(typed) => {
            let after = wanted.from.unwrap_or(0);
            let (Events { events, more }, imported_from) = match imported(project, &ledger, typed).await? {
                Some((import, id)) => {
                    let entries = ledger.imported_events(&import, &id, after, wanted.limit.saturating_add(1));
                    (paged(entries.await?, wanted.limit), Some(import.file))
                }
                None => {
                    let id = meant(project, &ledger, typed).await?;
                    (events(&ledger, &id, after, wanted.limit).await?, None)
                }
            };
            let next = events.last().filter(|_| more).map(|entry| entry.n);
            Log { events: Some(events), more, next, imported_from, ..log }
        }
        None if wanted.imported => {
            let (imported, more) = all_imported(&ledger, wanted.limit).await?;
            Log { imported: Some(imported), more, ..log }
        }
        None => {
            let (reviews, next) = search(&ledger, wanted).await?;
            Log { reviews: Some(reviews), more: next.is_some(), next, ..log }
        }
    };
    ledger.close().await;
    Ok(Answer::passed(log))
}

/// Says what a person can do about tables that differ; nobody else is told a command for people.
fn unverified(error: LedgerError) -> Failure {
    let differs = matches!(error, LedgerError::Differs(_));
    let failure = Failure::from(error);
    match differs && actor().is_person() {
        true => failure.hint("`countersign ledger rebuild` computes these tables again from the events, which are as they were recorded"),
        false => failure,
    }
}

/// The imported review that a text names, where this ledger has no review of its own of that name.
async fn imported(
    project: &Project,
    ledger: &Ledger,
    typed: &str,
) -> Result<Option<(ledger::Import, ReviewId)>, Failure> {
    let Err(failure) = meant(project, ledger, typed).await else { return Ok(None) };
    if failure.code != Code::NotFound {
        return Err(failure);
    }
    let mut found = ledger.find_imported(typed).await?;
    match found.len() {
        0 => Err(failure),
        1 => Ok(found.pop()),
        _ => {
            let names: Vec<String> =
                found.iter().map(|(import, id)| format!("{id} of {}", import.file)).collect();
            Err(ambiguous(format!("`{typed}` is the beginning of several imported reviews"))
                .hint(format!("type more of it: {}", names.join(", "))))
        }
    }
}

/// Imported reviews, those of the latest import first.
async fn all_imported(ledger: &Ledger, limit: u32) -> Result<(Vec<ImportedRow>, bool), Failure> {
    let mut all = vec![];
    for import in ledger.imports().await?.into_iter().rev() {
        let rows = ledger.imported(&import, limit.saturating_add(1)).await?;
        all.extend(rows.iter().map(|row| ImportedRow { row: row.into(), from: import.file.clone() }));
        if all.len() > limit as usize {
            break;
        }
    }
    let more = all.len() > limit as usize;
    all.truncate(limit as usize);
    Ok((all, more))
}

/// A page of the reviews that match, newest first, and where the next page begins.
pub async fn search(ledger: &Ledger, wanted: &LogQuery) -> Result<(Vec<Row>, Option<u64>), Failure> {
    let (rows, next) = matching(ledger, wanted).await?;
    Ok((rows.iter().map(Row::from).collect(), next))
}

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
    let words = wanted.words.as_deref().filter(|words| !row.subject.as_str().contains(words));
    let reviewer = wanted.reviewer.as_deref();
    if !fits || (words.is_none() && reviewer.is_none()) {
        return Ok(fits);
    }
    // What a pruned review was about and who was asked is not known any more.
    if row.pruned.is_some() {
        return Ok(false);
    }
    // Last, because it reads the whole review.
    let Some(stored) = ledger.review(&row.id).await? else { return Ok(false) };
    let rounds = &stored.review.rounds;
    let asked = |round: &Round| {
        let mut candidates = round.assignments.iter().flat_map(|one| &one.candidates);
        reviewer.is_none_or(|name| candidates.any(|one| one.reviewer == name))
    };
    let has = |round: &Round| {
        words.is_none_or(|words| round.submission.files.iter().any(|file| file.path.contains(words)))
    };
    Ok(rounds.iter().any(asked) && rounds.iter().any(has))
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
    let list = async || match subject {
        Some(subject) => ledger.list_for(subject, filter).await,
        None => ledger.list(filter).await,
    };
    let mut rows = list().await?;
    if withdraw_abandoned(ledger, &rows, &[CLI, GATE]).await? {
        rows = list().await?;
    }
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
    Ok(paged(ledger.events(id, after_n, limit.saturating_add(1)).await?, limit))
}

/// A page of events, of which one more than its limit was read.
fn paged(mut entries: Vec<ledger::Entry>, limit: u32) -> Events {
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    Events { events: entries.into_iter().map(Entry::from).collect(), more }
}
