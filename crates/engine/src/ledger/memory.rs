//! The store in memory, without a file. A transaction works on a copy of the lists, and most look-ups read all of a
//! list, so it is for ledgers of a few reviews.

use super::calls::{Call, CallRow, CallState, Report, Scope, StartedCall};
use super::entry::Line;
use super::projection::{Count, Row};
use super::store::{End, Kept, Lines, Rows, Stream};
use super::{LedgerError, Result};
use crate::fresh;
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::outcome::Outcome;
use countersign_core::review::State;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::OwnedMutexGuard;

#[derive(Clone, Default)]
struct Tables {
    events: Vec<Arc<Line>>,
    streams: BTreeMap<String, Vec<Arc<Line>>>,
    reviews: BTreeMap<String, Row>,
    rulings: BTreeMap<String, (String, u64)>,
    calls: Vec<Arc<CallRow>>,
}

type Committed = Arc<RwLock<Arc<Tables>>>;

#[derive(Default)]
pub(super) struct Memory {
    committed: Committed,
    writer: Arc<tokio::sync::Mutex<()>>,
    leases: Arc<Mutex<HashSet<String>>>,
}

pub(super) struct Session {
    tables: Arc<Tables>,
    /// The tables that are kept, while others are computed beside them.
    kept: Option<Arc<Tables>>,
    writes: Option<(OwnedMutexGuard<()>, Committed)>,
}

struct Lease {
    id: String,
    leases: Arc<Mutex<HashSet<String>>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Memory {
    pub fn read(&self) -> Result<Session> {
        Ok(Session { tables: self.tables(), kept: None, writes: None })
    }

    pub async fn write(&self) -> Result<Session> {
        let guard = Arc::clone(&self.writer).lock_owned().await;
        let writes = Some((guard, Arc::clone(&self.committed)));
        Ok(Session { tables: self.tables(), kept: None, writes })
    }

    fn tables(&self) -> Arc<Tables> {
        Arc::clone(&self.committed.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn lease(&self) -> Result<(String, Kept)> {
        let id = fresh::id()?;
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        Ok((id.clone(), Box::new(Lease { id, leases: Arc::clone(&self.leases) })))
    }

    pub fn is_alive(&self, lease: &str) -> bool {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).contains(lease)
    }
}

fn page<'a>(lines: impl Iterator<Item = &'a Arc<Line>>, limit: u32) -> Vec<Line> {
    lines.take(limit as usize).map(|line| Line::clone(line)).collect()
}

impl Session {
    pub fn commit(self) -> Result<()> {
        if let Some((_guard, committed)) = self.writes {
            *committed.write().unwrap_or_else(PoisonError::into_inner) = self.tables;
        }
        Ok(())
    }

    fn tables(&mut self) -> &mut Tables {
        Arc::make_mut(&mut self.tables)
    }

    pub fn end(&mut self, stream: &str) -> Result<End> {
        let n = self.of(stream).len() as u64;
        let last = self.tables.events.last();
        Ok(End { n, seq: last.map_or(0, |line| line.seq), link: last.map(|line| line.chain.clone()) })
    }

    pub fn highest(&mut self) -> Result<u64> {
        Ok(self.tables.events.last().map_or(0, |line| line.seq))
    }

    /// The events of a stream; the n-th at n - 1.
    fn of(&self, stream: &str) -> &[Arc<Line>] {
        self.tables.streams.get(stream).map_or(&[], Vec::as_slice)
    }

    pub fn lines(&mut self, which: Lines<'_>, limit: u32) -> Result<Vec<Line>> {
        let all = self.tables.events.iter();
        let of_review = |line: &&Arc<Line>| line.stream.starts_with(ReviewId::PREFIX);
        Ok(match which {
            Lines::Stream(stream, n) => {
                page(self.of(stream).iter().filter(|line| line.n.cast_unsigned() > n), limit)
            }
            Lines::Last(stream) => page(self.of(stream).iter().rev(), limit),
            Lines::After(seq) => page(all.filter(|line| line.seq > seq), limit),
            Lines::ReviewsAfter(seq) => page(all.filter(of_review).filter(|line| line.seq > seq), limit),
            Lines::ReviewsBefore(seq) => {
                page(all.rev().filter(of_review).filter(|line| line.seq < seq), limit)
            }
        })
    }

    pub fn stream(&mut self, id: &ReviewId) -> Result<Stream> {
        let row = self.tables.reviews.get(id.as_str());
        let (known, holder) = (row.map(|row| row.n), row.and_then(|row| row.holder.clone()));
        Ok(Stream { lines: page(self.of(id.as_str()).iter(), u32::MAX), known, holder })
    }

    pub fn feed(&mut self, after: u64, limit: u32) -> Result<Vec<(Line, Option<String>)>> {
        let subject =
            |line: &Line| self.tables.reviews.get(&line.stream).map(|row| row.subject.as_str().to_owned());
        let lines = self.tables.events.iter().filter(|line| line.seq > after);
        Ok(page(lines, limit).into_iter().map(|line| (line.clone(), subject(&line))).collect())
    }

    pub fn streams(&mut self, prefix: &str, limit: u32) -> Result<Vec<String>> {
        let named = self.tables.streams.iter().filter(|(name, _)| name.starts_with(prefix));
        let mut found: Vec<_> = named.collect();
        found.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.last().map(|line| line.seq)));
        Ok(found.into_iter().take(limit as usize).map(|(name, _)| name.clone()).collect())
    }

    pub fn rows(&mut self, which: Rows<'_>) -> Result<Vec<Row>> {
        let all = self.tables.reviews.values();
        let mut rows: Vec<&Row> = match which {
            Rows::Of(id) => return Ok(self.tables.reviews.get(id.as_str()).cloned().into_iter().collect()),
            Rows::ById(after, limit) => {
                let later = all.filter(|row| row.id.as_str() > after);
                return Ok(later.take(limit as usize).cloned().collect());
            }
            Rows::Latest(subject) | Rows::PageFor(subject, _) => {
                all.filter(|row| row.subject == *subject).collect()
            }
            Rows::Page(_) => all.collect(),
            Rows::Stopped(_) => {
                all.filter(|row| row.standing.is_some_and(Outcome::waits_for_a_lift)).collect()
            }
        };
        rows.sort_by_key(|row| std::cmp::Reverse(row.opened_seq));
        let mut limit = if let Rows::Stopped(limit) = which { limit } else { 1 };
        if let Rows::Page(filter) | Rows::PageFor(_, filter) = which {
            limit = filter.limit;
            rows.retain(|row| filter.before.is_none_or(|before| row.opened_seq < before));
            rows.retain(|row| !filter.open_only || is_open(row));
        }
        Ok(rows.into_iter().take(limit as usize).cloned().collect())
    }

    pub fn ids(&mut self, prefix: &str, limit: u32) -> Result<Vec<String>> {
        let ids = self.tables.reviews.keys().filter(|id| id.starts_with(prefix));
        Ok(ids.take(limit as usize).cloned().collect())
    }

    pub fn subjects(&mut self, door: &str, ending: &str, limit: u32) -> Result<Vec<String>> {
        let subjects = self.tables.reviews.values().map(|row| &row.subject);
        let found = subjects.filter(|subject| subject.door() == door && subject.as_str().ends_with(ending));
        let found: BTreeSet<&str> = found.map(|subject| subject.as_str()).collect();
        Ok(found.into_iter().take(limit as usize).map(str::to_owned).collect())
    }

    pub fn counts(&mut self) -> Result<Vec<Count>> {
        let mut counts: Vec<Count> = vec![];
        for Row { state, standing, .. } in self.tables.reviews.values() {
            match counts.iter_mut().find(|known| (known.state, known.standing) == (*state, *standing)) {
                Some(known) => known.reviews += 1,
                None => counts.push(Count { state: *state, standing: *standing, reviews: 1 }),
            }
        }
        Ok(counts)
    }

    pub fn rulings(&mut self, under: &[String]) -> Result<Vec<(String, Line)>> {
        let found = under.iter().filter_map(|under| {
            let (stream, n) = self.tables.rulings.get(under)?;
            let line = self.of(stream).get(usize::try_from(*n).ok()?.checked_sub(1)?)?;
            Some((under.clone(), Line::clone(line)))
        });
        Ok(found.collect())
    }

    pub fn calls(&mut self, review: &ReviewId) -> Result<Vec<Call>> {
        let calls = self.tables.calls.iter().filter(|row| row.stream == review.as_str());
        Ok(calls.map(|row| row.call.clone()).collect())
    }

    pub fn call(&mut self, id: &CallId) -> Result<Option<(CallState, String)>> {
        let found = self.tables.calls.iter().find(|row| row.call.id == *id);
        Ok(found.map(|row| (row.call.state, row.stream.clone())))
    }

    pub fn spent(&mut self, scope: Scope<'_>) -> Result<Spending> {
        let counts = |row: &&Arc<CallRow>| match scope {
            Scope::Review(id, round) => row.stream == id.as_str() && row.call.round >= round,
            Scope::Since(at_ms) => row.asked_ms >= at_ms,
        };
        let mut sum = Spending::default();
        for row in self.tables.calls.iter().filter(counts) {
            let (report, reserved) = (&row.call.report, row.reserved);
            let tokens = report.tokens_in.zip(report.tokens_out).map(|(a, b)| a.saturating_add(b));
            sum.tokens = sum.tokens.saturating_add(tokens.unwrap_or(reserved.tokens));
            sum.microusd = sum.microusd.saturating_add(report.cost_microusd.unwrap_or(reserved.microusd));
        }
        Ok(sum)
    }

    pub fn asked_since(&mut self, since_ms: i64) -> Result<Vec<(i64, Call)>> {
        let asked = self.tables.calls.iter().filter(|row| row.asked_ms >= since_ms);
        Ok(asked.map(|row| (row.asked_ms, row.call.clone())).collect())
    }

    pub fn append(&mut self, events: &[Line]) -> Result<()> {
        for line in events {
            if line.n.cast_unsigned() != self.of(&line.stream).len() as u64 + 1 {
                return Err(LedgerError::Conflict);
            }
            let (tables, line) = (self.tables(), Arc::new(line.clone()));
            tables.streams.entry(line.stream.clone()).or_default().push(Arc::clone(&line));
            tables.events.push(line);
        }
        Ok(())
    }

    pub fn put_row(&mut self, row: &Row) -> Result<()> {
        let other = |known: &Row| known.id != row.id && known.subject == row.subject && is_open(known);
        if is_open(row) && self.tables.reviews.values().any(other) {
            return Err(LedgerError::Conflict);
        }
        let mut row = Row { holder: None, ..row.clone() };
        if let Some(Row { opened_seq, opened_ms, holder, .. }) = self.tables.reviews.get(row.id.as_str()) {
            row = Row { opened_seq: *opened_seq, opened_ms: *opened_ms, holder: holder.clone(), ..row };
        }
        self.tables().reviews.insert(row.id.to_string(), row);
        Ok(())
    }

    pub fn set_holder(&mut self, id: &ReviewId, holder: Option<&str>) -> Result<bool> {
        let row = self.tables().reviews.get_mut(id.as_str());
        Ok(row.map(|row| row.holder = holder.map(str::to_owned)).is_some())
    }

    pub fn put_ruling(&mut self, under: &str, stream: &str, n: u64) -> Result<()> {
        self.tables().rulings.insert(under.to_owned(), (stream.to_owned(), n));
        Ok(())
    }

    pub fn at(&mut self, places: &[(String, u64)]) -> Result<Vec<Line>> {
        let found = places.iter().filter_map(|(stream, n)| {
            let line = self.of(stream).get(usize::try_from(*n).ok()?.checked_sub(1)?)?;
            Some(Line::clone(line))
        });
        Ok(found.collect())
    }

    pub fn index_after(&mut self, under: &str, limit: u32) -> Result<Vec<(String, Line)>> {
        let after = self.tables.rulings.keys().filter(|key| key.as_str() > under);
        let names: Vec<String> = after.take(limit as usize).cloned().collect();
        self.rulings(&names)
    }

    pub fn calls_after(&mut self, id: &str, limit: u32) -> Result<Vec<CallRow>> {
        let mut after: Vec<_> = self.tables.calls.iter().filter(|row| row.call.id.as_str() > id).collect();
        after.sort_by(|a, b| a.call.id.cmp(&b.call.id));
        Ok(after.into_iter().take(limit as usize).map(|row| CallRow::clone(row)).collect())
    }

    pub fn prune(&mut self, stream: &str, kept: &[u64], mark: &str, record: u64) -> Result<()> {
        let tables = self.tables();
        let emptied = |line: &mut Arc<Line>| {
            if line.stream == stream && !kept.contains(&line.n.cast_unsigned()) {
                Arc::make_mut(line).body = mark.to_owned();
            }
        };
        tables.events.iter_mut().for_each(emptied);
        tables.streams.values_mut().flatten().for_each(emptied);
        for row in tables.calls.iter_mut().filter(|row| row.stream == stream) {
            Arc::make_mut(row).call.report.reply = None;
        }
        if let Some(row) = tables.reviews.get_mut(stream) {
            row.pruned = Some(record);
        }
        Ok(())
    }

    pub fn is_indexed(&mut self) -> Result<bool> {
        Ok(true)
    }

    pub fn begin_shadow(&mut self) -> Result<()> {
        self.kept = Some(Arc::clone(&self.tables));
        let tables = self.tables();
        (tables.reviews, tables.rulings, tables.calls) = Default::default();
        Ok(())
    }

    pub fn differences(&mut self, limit: u32) -> Result<Vec<String>> {
        let (Some(kept), computed) = (&self.kept, &self.tables) else { return Ok(vec![]) };
        let reviews = |tables: &Tables| {
            let rows = tables.reviews.iter().filter(|(_, row)| row.pruned.is_none());
            let row = |row: &Row| Row { holder: None, ..row.clone() };
            rows.map(|(id, found)| (id.clone(), format!("{:?}", row(found)))).collect()
        };
        let rulings = |tables: &Tables| {
            tables.rulings.iter().map(|(key, event)| (key.clone(), format!("{event:?}"))).collect()
        };
        let is_pruned = |stream: &str| kept.reviews.get(stream).is_some_and(|row| row.pruned.is_some());
        let calls = |tables: &Tables| {
            let of_review =
                |row: &&Arc<CallRow>| row.stream.starts_with(ReviewId::PREFIX) && !is_pruned(&row.stream);
            let said = |row: &Arc<CallRow>| {
                let Call { id, round, assignment, reviewer, state, .. } = &row.call;
                let said = (&row.stream, round, assignment, reviewer, state, row.asked_ms);
                (id.to_string(), format!("{said:?}"))
            };
            tables.calls.iter().filter(of_review).map(said).collect()
        };
        let mut all = compared("reviews", &reviews(kept), &reviews(computed));
        all.extend(compared("rulings", &rulings(kept), &rulings(computed)));
        all.extend(compared("calls", &calls(kept), &calls(computed)));
        all.truncate(limit as usize);
        Ok(all)
    }

    pub fn take_rulings(&mut self) -> Result<()> {
        let Some(kept) = self.kept.take() else { return Ok(()) };
        let rulings = self.tables.rulings.clone();
        self.tables = kept;
        self.tables().rulings = rulings;
        Ok(())
    }

    pub fn take_tables(&mut self) -> Result<()> {
        // Nobody but this process writes here: what is kept is what was computed.
        self.take_rulings()
    }

    pub fn begin_calls(&mut self, calls: &[StartedCall<'_>]) -> Result<()> {
        let row = calls.iter().map(|begun| {
            let call = Call {
                id: begun.id.clone(),
                round: begun.round,
                assignment: begun.assignment,
                reviewer: begun.reviewer.to_owned(),
                state: CallState::Asked,
                report: Report::default(),
            };
            let (stream, asked_ms) = (begun.stream.to_owned(), begun.asked_ms);
            Arc::new(CallRow { call, stream, asked_ms, reserved: Spending::default() })
        });
        self.tables().calls.extend(row);
        Ok(())
    }

    fn change(&mut self, id: &CallId, change: impl FnOnce(&mut CallRow)) -> bool {
        let call = self.tables().calls.iter_mut().find(|row| row.call.id == *id);
        call.map(|row| change(Arc::make_mut(row))).is_some()
    }

    pub fn set_call(&mut self, id: &CallId, state: CallState) -> Result<()> {
        self.change(id, |row| row.call.state = state);
        Ok(())
    }

    pub fn report(&mut self, id: &CallId, report: &Report) -> Result<bool> {
        Ok(self.change(id, |row| row.call.report = report.clone()))
    }

    pub fn reserve(&mut self, id: &CallId, worst: Spending) -> Result<()> {
        self.change(id, |row| row.reserved = worst);
        Ok(())
    }
}

/// Where two tables differ, by the names of their rows.
fn compared(
    table: &str,
    kept: &BTreeMap<String, String>,
    computed: &BTreeMap<String, String>,
) -> Vec<String> {
    let missing = computed.iter().filter_map(|(id, said)| match kept.get(id) {
        None => Some(format!("{table}: the row of {id} is missing")),
        Some(other) => (other != said).then(|| format!("{table}: the row of {id} differs from its events")),
    });
    let extra = kept.keys().filter(|id| !computed.contains_key(*id));
    missing.chain(extra.map(|id| format!("{table}: no event explains the row of {id}"))).collect()
}

fn is_open(row: &Row) -> bool {
    !matches!(row.state, State::Settled(_))
}
