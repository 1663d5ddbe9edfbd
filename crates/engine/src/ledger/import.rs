//! Events of another ledger. They are shown and count for nothing: their streams have names that no review and no door
//! has, so nothing that decides ever finds them. They are part of this ledger's chain under these names.

use super::chain::Chain;
use super::entry::{Line, load_from};
use super::export::{Exported, ExportedEvent, Totals, VERSION, hex};
use super::projection::Row;
use super::prune::record_of;
use super::reused::{self, IMPORTED};
use super::store::{Lines, Session};
use super::{LedgerError, Result};
use crate::fresh;
use countersign_core::ids::ReviewId;
use countersign_core::review::Actor;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// The stream that records imports.
const STREAM: &str = "ledger/imported";
const KIND: &str = "imported";
/// Longer lines are none of ours.
const LINE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How many events are written at once.
const CHUNK_EVENTS: usize = 100;

/// What was imported at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Names it in this ledger.
    pub id: String,
    /// The file, as the person called it.
    pub file: String,
    pub by: Actor,
    pub at_ms: i64,
    pub reviews: u64,
    pub events: u64,
    /// The hash of the last event of that ledger.
    pub head: String,
}

impl Import {
    /// The name that a stream of that ledger has in this one.
    pub(super) fn stream(&self, theirs: &str) -> String {
        stream(&self.id, theirs)
    }
}

/// Whether a line is of an imported event whose body was removed before.
pub(super) fn is_mark(line: &Line) -> bool {
    line.stream.starts_with(IMPORTED) && record_of(line).is_some()
}

fn stream(id: &str, theirs: &str) -> String {
    format!("{IMPORTED}{id}/{theirs}")
}

/// Reads an export and writes its events; the caller commits. An error anywhere leaves nothing of it.
pub(super) async fn import(
    session: &mut Session,
    from: &mut (dyn BufRead + Send),
    file: &str,
    by: &Actor,
    at_ms: i64,
) -> Result<Import> {
    let id = fresh::id()?;
    let mut end = session.end(STREAM).await?;
    let (mut reading, mut lines) = (Reading::new(from), vec![]);
    let mut reviews = 0;
    while let Some(line) = reading.next()? {
        let n = line.number()?;
        reviews += u64::from(n == 1 && line.stream.starts_with(ReviewId::PREFIX) && !line.is_pruned());
        lines.push(end.next(&stream(&id, &line.stream), n, line.at_ms, &line.kind, line.body));
        if lines.len() >= CHUNK_EVENTS {
            session.append(&std::mem::take(&mut lines)).await?;
        }
    }
    session.append(&lines).await?;
    let Totals { events, head, .. } = reading.end()?;
    if imports(session).await?.iter().any(|known| known.head == head) {
        return Err(LedgerError::Imported);
    }
    let import = Import { id, file: file.to_owned(), by: by.clone(), at_ms, reviews, events, head };
    let body = serde_json::to_string(&import).map_err(|error| LedgerError::Other(error.to_string()))?;
    let record = end.next(STREAM, end.n + 1, at_ms, KIND, body);
    session.append(&[record]).await?;
    Ok(import)
}

/// An export as it is read: every line is checked before it is used.
struct Reading<'a> {
    from: &'a mut (dyn BufRead + Send),
    /// The number of the last line that was read.
    line: u64,
    chain: Chain,
    previous: Option<Vec<u8>>,
    /// How many events of a stream were read.
    counts: HashMap<String, u64>,
    calls: u64,
    totals: Option<Totals>,
}

impl<'a> Reading<'a> {
    fn new(from: &'a mut (dyn BufRead + Send)) -> Self {
        let (counts, chain) = (HashMap::new(), Chain::default());
        Self { from, line: 0, chain, previous: None, counts, calls: 0, totals: None }
    }

    fn refused<T>(&self, why: impl Into<String>) -> Result<T> {
        Err(LedgerError::NotAnExport { line: self.line, why: why.into() })
    }

    /// The next event; none at the end.
    fn next(&mut self) -> Result<Option<Line>> {
        loop {
            let mut text = vec![];
            let read = Read::take(&mut *self.from, LINE_BYTES_MAX).read_until(b'\n', &mut text)?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if self.totals.is_some() {
                return self.refused("the totals are the last line");
            }
            match serde_json::from_slice::<Exported>(&text) {
                Ok(Exported::Event(_)) if self.calls > 0 => return self.refused("events come before calls"),
                Ok(Exported::Event(event)) => return self.event(event).map(Some),
                Ok(Exported::Call(_)) => self.calls += 1,
                Ok(Exported::Totals(totals)) => self.totals = Some(totals),
                Err(error) => return self.refused(error.to_string()),
            }
        }
    }

    fn event(&mut self, event: ExportedEvent) -> Result<Line> {
        let ExportedEvent { seq, stream, n, at_ms, kind, body, chain } = event;
        let changed = LedgerError::ExportChanged { line: self.line };
        let (Ok(n), Some(chain)) = (i64::try_from(n), bytes(&chain)) else { return Err(changed) };
        let previous = self.previous.replace(chain.clone());
        let line = Line { seq, stream, n, at_ms, kind, body, chain, previous };
        let count = self.counts.entry(line.stream.clone()).or_default();
        *count += 1;
        if self.chain.add(&line).is_err() || *count != line.n.cast_unsigned() {
            return Err(changed);
        }
        if line.stream.starts_with(ReviewId::PREFIX)
            && !line.is_pruned()
            && let Err(error) = reused::check(&line)
        {
            return self.refused(error.to_string());
        }
        Ok(line)
    }

    fn end(self) -> Result<Totals> {
        let Some(totals) = &self.totals else {
            return self.refused("the last line, with the totals, is missing");
        };
        let head = self.previous.as_deref().map(hex).unwrap_or_default();
        let counted = (VERSION, self.chain.last(), self.calls, head.as_str());
        let changed = LedgerError::ExportChanged { line: self.line };
        if (totals.version, totals.events, totals.calls, totals.head.as_str()) != counted {
            return Err(changed);
        }
        let totals = totals.clone();
        self.chain.end().map_err(|_| changed)?;
        Ok(totals)
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

/// The imported reviews whose ids begin like this.
pub(super) async fn find(session: &mut Session, prefix: &str, limit: u32) -> Result<Vec<(Import, ReviewId)>> {
    let mut found = vec![];
    for import in imports(session).await? {
        for stream in session.streams(&import.stream(prefix), limit).await? {
            let id = stream.rsplit('/').next().unwrap_or_default();
            found.push((import.clone(), ReviewId::from_text(id)));
        }
    }
    Ok(found)
}

/// The imports on record, in order.
pub(super) async fn imports(session: &mut Session) -> Result<Vec<Import>> {
    let lines = session.lines(Lines::Stream(STREAM, 0), u32::MAX).await?;
    let read = |line: &Line| {
        line.check()?;
        let unknown = |_| LedgerError::UnknownEvent { seq: line.seq, kind: line.kind.clone() };
        serde_json::from_str(&line.body).map_err(unknown)
    };
    lines.iter().map(read).collect()
}

/// The reviews of an import, the one that changed last first.
pub(super) async fn rows(session: &mut Session, import: &Import, limit: u32) -> Result<Vec<Row>> {
    let mut rows = vec![];
    for stream in session.streams(&import.stream(ReviewId::PREFIX), limit).await? {
        let id = ReviewId::from_text(stream.rsplit('/').next().unwrap_or_default());
        let lines = session.lines(Lines::Stream(&stream, 0), u32::MAX).await?;
        // Of a pruned review only answers are left to which others refer.
        if lines.iter().all(|line| record_of(line).is_none()) {
            rows.push(load_from(session, id, &lines).await?.row());
        }
    }
    Ok(rows)
}
