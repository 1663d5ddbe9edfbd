//! The inbox: what waits for a person, what runs, what is with its author, and what ended today.

use crate::Failure;
use crate::answer::v1::{ReviewRow, Row};
use crate::log::reviews;
use crate::time::local_date;
use countersign_core::judge::Finding;
use countersign_core::outcome::Outcome;
use countersign_core::review::Review;
use countersign_core::text::counted;
use countersign_engine::ledger::{Filter, Ledger};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// How many open reviews are listed.
const OPEN_ROWS: u32 = 100;
const STOPPED_ROWS: u32 = 50;
/// How many of the newest reviews are looked through for those that ended today.
const NEWEST_ROWS: u32 = 60;
/// How many rows say in a sentence what was found: for it the whole review is read.
const SENTENCES_MAX: usize = 25;
const FILES_NAMED: usize = 2;

#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// What goes on only when a person decides.
    pub waiting: Vec<InboxRow>,
    pub running: Vec<InboxRow>,
    /// Sent back, interrupted, or waiting for a self-review: the author goes on.
    pub with_authors: Vec<InboxRow>,
    pub ended_today: Vec<InboxRow>,
    /// Whether there are more than are listed.
    pub more: bool,
}

#[derive(Clone, Debug)]
pub struct InboxRow {
    pub review: ReviewRow,
    /// Why it is there, in a sentence.
    pub why: String,
}

/// The inbox of a project; without a ledger it is empty.
pub async fn inbox(ledger: Option<&Ledger>) -> Result<Inbox, Failure> {
    let Some(ledger) = ledger else { return Ok(Inbox::default()) };
    let page = |open_only, limit| Filter { open_only, before: None, limit };
    let open = reviews(Some(ledger), None, page(true, OPEN_ROWS)).await?;
    let stopped = ledger.stopped(STOPPED_ROWS).await?;
    let mut inbox = Inbox { more: open.more || stopped.len() == STOPPED_ROWS as usize, ..Inbox::default() };
    for row in &stopped {
        let review = ReviewRow { row: Row::from(row), interrupted: false };
        inbox.waiting.push(InboxRow { review, why: String::new() });
    }
    for review in open.reviews {
        let list = match review.row.outcome.map(|outcome| outcome.0) {
            None if review.interrupted => &mut inbox.with_authors,
            None => &mut inbox.running,
            Some(Outcome::NeedsWork) => &mut inbox.with_authors,
            Some(_) => &mut inbox.waiting,
        };
        list.push(InboxRow { review, why: String::new() });
    }
    inbox.waiting.sort_by_key(|row| std::cmp::Reverse(row.review.row.changed_ms));
    inbox.ended_today = ended_today(ledger).await?;
    let rows = inbox.waiting.iter_mut().chain(&mut inbox.with_authors).take(SENTENCES_MAX);
    for row in rows {
        if let Some(stored) = ledger.review(&row.review.row.id).await? {
            row.why = sentence(&stored.review);
        }
    }
    Ok(inbox)
}

async fn ended_today(ledger: &Ledger) -> Result<Vec<InboxRow>, Failure> {
    let filter = Filter { open_only: false, before: None, limit: NEWEST_ROWS };
    let newest = reviews(Some(ledger), None, filter).await?;
    let today = local_date(SystemTime::now());
    let is_today = |changed_ms: i64| {
        let since = Duration::from_millis(u64::try_from(changed_ms).unwrap_or(0));
        SystemTime::UNIX_EPOCH.checked_add(since).is_some_and(|time| local_date(time) == today)
    };
    let ended = newest.reviews.into_iter().filter(|review| {
        let outcome = review.row.outcome.map(|outcome| outcome.0);
        outcome.is_some_and(|outcome| outcome.exit_code() == 0) && is_today(review.row.changed_ms)
    });
    Ok(ended.map(|review| InboxRow { review, why: String::new() }).collect())
}

/// What is left to fix, or why there is no verdict.
fn sentence(review: &Review) -> String {
    let findings = review.findings();
    if !findings.is_empty() {
        return found(&findings);
    }
    let round = review.round();
    let failed = round.into_iter().flat_map(|round| {
        let open = round.assignments.iter().filter(|assignment| round.answer_to(assignment).is_none());
        open.filter_map(|assignment| round.failure_of(assignment))
    });
    let mut details = failed.map(|failure| failure.detail.as_str()).filter(|detail| !detail.is_empty());
    match details.next() {
        Some(detail) => detail.to_owned(),
        None => round.and_then(|round| round.end).map(|end| end.words()).unwrap_or_default(),
    }
}

fn found(findings: &[Finding]) -> String {
    let files: BTreeSet<&str> = findings.iter().filter_map(|finding| finding.file.as_deref()).collect();
    let count = counted(findings.len(), "finding", "findings");
    let named: Vec<&str> = files.iter().copied().take(FILES_NAMED).collect();
    match files.len() {
        0 => count,
        n if n <= FILES_NAMED => format!("{count} in {}", named.join(" and ")),
        n => format!("{count} in {} files", n),
    }
}
