//! Pruning: the bodies of events of old reviews are removed, and what is left stays part of the chain. An event of its
//! own says who did it, when, and what was removed; it names what is left by digests.

use super::entry::{Line, chained};
use super::projection::Row;
use super::reused::referred;
use super::rulings::known;
use super::store::{Lines, Rows, Session};
use super::verify::{self, Tell};
use super::{Call, CallState, LedgerError, Result};
use countersign_core::digest::{Digest, Parts};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::review::{Actor, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The stream that records prunings.
pub(super) const STREAM: &str = "ledger/pruned";
const KIND: &str = "pruned";
/// How many rows are in memory at once.
const PAGE_ROWS: u32 = 256;
/// How many reviews one event records.
const RECORD_REVIEWS: usize = 500;

/// What was removed at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pruning {
    pub by: Actor,
    pub at_ms: i64,
    /// Reviews that were over at this time.
    pub before_ms: i64,
    /// How many events lost their bodies.
    pub events: u64,
    /// Names what is left of these events.
    pub digest: Digest,
    /// The reviews, each with a digest that names its row and what its questions cost.
    pub reviews: Vec<(ReviewId, Digest)>,
}

/// What a pruning removes, or would remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub reviews: Vec<ReviewId>,
    pub events: u64,
    /// Old reviews that stay, because failures in them stand on bytes that may come again.
    pub kept_for_failures: u64,
    /// Old reviews that stay, because they were stopped, and their subjects have no later review.
    pub kept_for_stops: u64,
}

/// Who prunes, when, and what was over before when.
pub struct Order<'a> {
    pub by: &'a Actor,
    pub at_ms: i64,
    pub before_ms: i64,
}

/// What stands in place of a body: the number of the event that records the pruning.
pub(super) fn mark(record: u64) -> String {
    json!({ "pruned": record }).to_string()
}

/// The number of the event that should record that the body of this one was removed.
pub(super) fn record_of(line: &Line) -> Option<u64> {
    // Long texts are no marks, and reading them costs time.
    let body = Some(&line.body).filter(|body| body.len() < 64)?;
    serde_json::from_str::<Value>(body).ok()?.get("pruned")?.as_u64()
}

/// The pruning that an event records, if it does.
pub(super) fn read(line: &Line) -> Result<Option<Pruning>> {
    if (line.stream.as_str(), line.kind.as_str()) != (STREAM, KIND) {
        return Ok(None);
    }
    let read = serde_json::from_str(&line.body);
    read.map(Some).map_err(|_| LedgerError::UnknownEvent { seq: line.seq, kind: line.kind.clone() })
}

/// What is left of events without bodies, in the order of the ledger.
pub(super) struct Remains {
    parts: Parts,
    first: u64,
}

impl Default for Remains {
    fn default() -> Self {
        Self { parts: Parts::new("pruned/1"), first: 0 }
    }
}

impl Remains {
    pub(super) fn add(&mut self, line: &Line) {
        let chain: String = line.chain.iter().map(|byte| format!("{byte:02x}")).collect();
        let (seq, n, at_ms) = (line.seq.to_string(), line.n.to_string(), line.at_ms.to_string());
        self.parts.text(&seq).text(&line.stream).text(&n).text(&at_ms).text(&line.kind).text(&chain);
        if self.first == 0 {
            self.first = line.seq;
        }
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn digest(&self) -> Digest {
        self.parts.digest()
    }
}

/// Names the row of a pruned review and what its questions cost: nothing computes these any more.
pub(super) async fn rest(session: &mut Session, row: &Row) -> Result<Digest> {
    let mut parts = Parts::new("pruned-review/1");
    let Row { id, opened_seq, n, subject, state, standing, round, attempts, digest, .. } = row;
    parts.text(id.as_str()).text(subject.as_str()).text(&format!("{state:?} {standing:?}"));
    parts.maybe(digest.as_ref().map(Digest::as_str));
    let numbers = [*opened_seq, *n, u64::from(*round), u64::from(*attempts)];
    let times = [row.opened_ms, row.changed_ms];
    parts.text(&format!("{numbers:?} {times:?}"));
    for Call { id, round, assignment, reviewer, state, report } in session.calls(id).await? {
        let state = match state {
            CallState::Asked => "asked",
            CallState::Answered => "answered",
            CallState::Failed => "failed",
        };
        parts.text(id.as_str()).text(&reviewer).text(state).maybe(report.model.as_deref());
        let costs = [report.tokens_in, report.tokens_out, report.cost_microusd];
        parts.text(&format!("{round} {assignment:?} {costs:?}"));
    }
    Ok(parts.digest())
}

/// Prunes within a session that writes; what is not committed was a trial. The ledger is checked before: what was
/// changed by hand is not removed with its traces.
pub(super) async fn prune(session: &mut Session, order: &Order<'_>, tell: Tell<'_>) -> Result<Pruned> {
    verify::in_order(session, tell).await?;
    session.take_tables().await?;
    let failing = failing(session).await?;
    let mut pruned = Pruned::default();
    let mut rows = BTreeMap::new();
    let mut last = String::new();
    loop {
        let page = session.rows(Rows::ById(&last, PAGE_ROWS)).await?;
        let Some(end) = page.last() else { break };
        last = end.id.to_string();
        for row in page {
            if !is_over(&row, order.before_ms) {
                continue;
            }
            if failing.contains(row.id.as_str()) {
                pruned.kept_for_failures += 1;
            } else if is_stopped(session, &row).await? {
                pruned.kept_for_stops += 1;
            } else {
                rows.insert(row.id.to_string(), row);
            }
        }
    }
    let referred = referred_to(session, &rows).await?;
    let all: Vec<Row> = rows.into_values().collect();
    for chunk in all.chunks(RECORD_REVIEWS) {
        pruned.events += record(session, order, chunk, &referred).await?;
    }
    pruned.reviews = all.into_iter().map(|row| row.id).collect();
    // What passed in these reviews is not found any more.
    verify::replay(session, &mut |_, _| {}).await?;
    session.take_rulings().await?;
    Ok(pruned)
}

fn is_over(row: &Row, before_ms: i64) -> bool {
    row.pruned.is_none() && row.changed_ms < before_ms && matches!(row.state, State::Settled(_))
}

/// A stop ends a subject until a person unblocks it: without its events the subject would begin anew.
async fn is_stopped(session: &mut Session, row: &Row) -> Result<bool> {
    match row.state {
        State::Settled(Settlement::Stopped(why)) if why != Stop::Withdrawn => {
            let latest = session.rows(Rows::Latest(&row.subject)).await?.pop();
            Ok(latest.is_none_or(|latest| latest.id == row.id))
        }
        _ => Ok(false),
    }
}

/// The streams of reviews in which failures stand, or what disputes left of them.
async fn failing(session: &mut Session) -> Result<BTreeSet<String>> {
    let (mut streams, mut last) = (BTreeSet::new(), String::new());
    loop {
        let page = session.index_after(&last, PAGE_ROWS).await?;
        let Some((end, _)) = page.last() else { return Ok(streams) };
        last.clone_from(end);
        for (under, line) in page {
            // Under a key of its own a pass is only a cached answer.
            if under.contains('/') || known(&line)?.is_none_or(|known| known.is_final()) {
                streams.insert(line.stream);
            }
        }
    }
}

/// The events to which reviews that stay refer.
async fn referred_to(
    session: &mut Session,
    pruned: &BTreeMap<String, Row>,
) -> Result<BTreeSet<(String, u64)>> {
    let (mut all, mut last) = (BTreeSet::new(), 0);
    loop {
        let page = session.lines(Lines::ReviewsAfter(last), PAGE_ROWS).await?;
        let Some(end) = page.last() else { return Ok(all) };
        last = end.seq;
        for line in page.iter().filter(|line| !pruned.contains_key(&line.stream) && !line.is_pruned()) {
            all.extend(referred(line)?);
        }
    }
}

/// Removes the bodies of some reviews, and records that.
async fn record(
    session: &mut Session,
    order: &Order<'_>,
    rows: &[Row],
    referred: &BTreeSet<(String, u64)>,
) -> Result<u64> {
    let end = session.end(STREAM).await?;
    let record = end.seq + 1;
    let (mut left, mut reviews) = (BTreeMap::new(), vec![]);
    for row in rows {
        let stream = row.id.to_string();
        let kept: Vec<u64> =
            referred.range((stream.clone(), 0)..=(stream.clone(), u64::MAX)).map(|(_, n)| *n).collect();
        for line in session.lines(Lines::Stream(&stream, 0), u32::MAX).await? {
            if !kept.contains(&line.number()?) {
                left.insert(line.seq, Line { body: String::new(), previous: None, ..line });
            }
        }
        session.prune(&stream, &kept, &mark(record), record).await?;
        reviews.push((row.id.clone(), rest(session, row).await?));
    }
    let mut remains = Remains::default();
    left.values().for_each(|line| remains.add(line));
    let events = left.len() as u64;
    let &Order { by, at_ms, before_ms } = order;
    let pruning = Pruning { by: by.clone(), at_ms, before_ms, events, digest: remains.digest(), reviews };
    let body = serde_json::to_string(&pruning).map_err(|error| LedgerError::Other(error.to_string()))?;
    session.append(&chained(end, STREAM, at_ms, vec![(KIND, body)])).await?;
    Ok(events)
}

/// Why a review cannot be read: the record of its pruning, checked against the chain.
pub(super) async fn pruned(session: &mut Session, stream: &str, line: &Line) -> Result<LedgerError> {
    let tampered = LedgerError::Tampered { seq: line.seq };
    let Some(record) = record_of(line) else { return Ok(tampered) };
    let found = session.lines(Lines::After(record.saturating_sub(1)), 1).await?.pop();
    let Some(found) = found.filter(|found| found.seq == record) else { return Ok(tampered) };
    found.check()?;
    Ok(match read(&found)? {
        Some(Pruning { by, at_ms, reviews, .. }) if reviews.iter().any(|(id, _)| id.as_str() == stream) => {
            let on = super::calls::date(at_ms.div_euclid(super::calls::DAY_MS));
            LedgerError::Pruned { review: stream.to_owned(), on, by: by.words() }
        }
        _ => tampered,
    })
}
