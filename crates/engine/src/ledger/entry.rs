//! Events as they are stored, and reading them back: each is checked against the chain before it is used.

use super::projection::Row;
use super::store::{End, Lines, Session, Stream};
use super::{LedgerError, Result, Stored, prune, reused};
use countersign_core::ids::ReviewId;
use countersign_core::review::{Event, Review, apply};

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the ledger, from 1 and without gaps.
    pub seq: u64,
    pub review: ReviewId,
    /// Its number in the review, from 1 and without gaps.
    pub n: u64,
    pub at_ms: i64,
    pub event: Event,
}

/// One recorded event of any stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number in the ledger, from 1 and without gaps: what a reader resumes by.
    pub seq: u64,
    /// The review it belongs to, or the stream of a door.
    pub stream: String,
    /// Its number in the stream, from 1 and without gaps.
    pub n: u64,
    pub at_ms: i64,
    pub kind: String,
    pub body: String,
    /// What the review is about; none for streams of doors.
    pub subject: Option<String>,
}

/// An event as a store has it, with the hash of the one before it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) seq: u64,
    pub(super) stream: String,
    pub(super) n: i64,
    pub(super) at_ms: i64,
    pub(super) kind: String,
    pub(super) body: String,
    pub(super) chain: Vec<u8>,
    pub(super) previous: Option<Vec<u8>>,
}

impl Line {
    /// Whether it still is what was recorded.
    pub(super) fn check(&self) -> Result<()> {
        let tampered = LedgerError::Tampered { seq: self.seq };
        let previous: &[u8] = match &self.previous {
            Some(previous) => previous,
            None if self.seq == 1 => &START,
            None => return Err(tampered),
        };
        let link = link(previous, &self.stream, self.n, self.at_ms, &self.kind, &self.body);
        if self.chain == link { Ok(()) } else { Err(tampered) }
    }

    /// Whether its body was removed, as far as the line itself says.
    pub(super) fn is_pruned(&self) -> bool {
        self.check().is_err() && prune::record_of(self).is_some()
    }

    /// What happened, after a look at the chain; `reused::events` reads those that refer to others.
    pub(super) fn event(&self) -> Result<Event> {
        self.check()?;
        match serde_json::from_str::<Event>(&self.body) {
            Ok(event) if event.kind() == self.kind => Ok(event),
            _ => Err(LedgerError::UnknownEvent { seq: self.seq, kind: self.kind.clone() }),
        }
    }

    pub(super) fn number(&self) -> Result<u64> {
        u64::try_from(self.n).map_err(|_| LedgerError::Tampered { seq: self.seq })
    }

    pub(super) fn recorded(self, subject: Option<String>) -> Result<Recorded> {
        self.check()?;
        let n = self.number()?;
        let Self { seq, stream, at_ms, kind, body, .. } = self;
        Ok(Recorded { seq, stream, n, at_ms, kind, body, subject })
    }

    pub(super) fn entry(self, event: Event) -> Result<Entry> {
        let (n, review) = (self.number()?, ReviewId::from_text(self.stream));
        Ok(Entry { seq: self.seq, review, n, at_ms: self.at_ms, event })
    }
}

/// New events at the end of a stream, each a kind and a body, and each chained to the one before it.
pub(super) fn chained(mut end: End, stream: &str, at_ms: i64, events: Vec<(&str, String)>) -> Vec<Line> {
    let line = |(kind, body)| {
        end.n += 1;
        end.next(stream, end.n, at_ms, kind, body)
    };
    events.into_iter().map(line).collect()
}

impl End {
    /// The next event of the ledger, the n-th of its stream.
    pub(super) fn next(&mut self, stream: &str, n: u64, at_ms: i64, kind: &str, body: String) -> Line {
        self.seq += 1;
        let before: &[u8] = self.link.as_deref().unwrap_or(&START);
        let chain = link(before, stream, n.cast_signed(), at_ms, kind, &body).to_vec();
        let previous = self.link.replace(chain.clone());
        let (stream, kind) = (stream.to_owned(), kind.to_owned());
        Line { seq: self.seq, stream, n: n.cast_signed(), at_ms, kind, body, chain, previous }
    }
}

/// The fold of a stream; none where it has no events.
pub(super) async fn load(session: &mut Session, id: &ReviewId) -> Result<Option<Stored>> {
    let Stream { lines, known, holder } = session.stream(id).await?;
    if lines.is_empty() {
        return Ok(None);
    }
    if let Some(line) = lines.iter().find(|line| line.is_pruned()) {
        return Err(prune::pruned(session, id.as_str(), line).await?);
    }
    let fold = load_from(session, id.clone(), &lines).await?;
    // No later event shows that the last event of a stream is missing; the row does.
    if known != Some(fold.stored.n) {
        return Err(LedgerError::Mismatch(id.to_string()));
    }
    Ok(Some(Stored { holder, ..fold.stored }))
}

/// The fold of all events of a stream.
pub(super) async fn load_from(session: &mut Session, id: ReviewId, lines: &[Line]) -> Result<Fold> {
    let events = reused::events(session, lines).await?;
    let mut fold = Fold::new(id);
    lines.iter().zip(&events).try_for_each(|(line, event)| fold.add(line, event))?;
    Ok(fold)
}

pub(super) struct Fold {
    stored: Stored,
    opened_seq: u64,
}

impl Fold {
    pub(super) fn new(id: ReviewId) -> Self {
        Self { stored: Stored::unopened(id), opened_seq: 0 }
    }

    /// Adds the event of a line, which was checked against the chain.
    pub(super) fn add(&mut self, line: &Line, event: &Event) -> Result<()> {
        let stored = &mut self.stored;
        if line.number()? != stored.n + 1 {
            return Err(LedgerError::Tampered { seq: line.seq });
        }
        stored.record(event, line.at_ms);
        if stored.n == 1 {
            self.opened_seq = line.seq;
        }
        Ok(())
    }

    pub(super) fn review(&self) -> &Review {
        &self.stored.review
    }

    pub(super) fn into_review(self) -> Review {
        self.stored.review
    }

    pub(super) fn row(&self) -> Row {
        Row::of(&self.stored, self.opened_seq)
    }
}

impl Stored {
    /// A review of which nothing is recorded yet.
    pub fn unopened(id: ReviewId) -> Self {
        Self { review: Review::unopened(id), n: 0, holder: None, opened_ms: 0, changed_ms: 0 }
    }

    pub(crate) fn record(&mut self, event: &Event, at_ms: i64) {
        self.review = apply(std::mem::take(&mut self.review), event);
        self.n += 1;
        self.changed_ms = at_ms;
        if self.n == 1 {
            self.opened_ms = at_ms;
        }
    }
}

pub(super) type Link = [u8; 32];

pub(super) const START: Link = [0; 32];

/// The hash of an event, by its columns and the hash before it: an edit by hand is seen by every reader of the event. It
/// is no proof against a forger who computes the hashes anew.
pub(super) fn link(previous: &[u8], stream: &str, n: i64, at_ms: i64, kind: &str, body: &str) -> Link {
    let mut hash = blake3::Hasher::new();
    // Every part carries its length, so that no two events look alike when run together.
    for part in [b"event/1", previous, stream.as_bytes(), &n.to_le_bytes(), &at_ms.to_le_bytes()] {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    for part in [kind, body] {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hash.finalize().into()
}

/// One event of a door's own stream. The ledger keeps and chains it; only the door knows its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number in the stream, from 1 and without gaps.
    pub n: u64,
    pub at_ms: i64,
    pub kind: String,
    pub body: String,
}

/// The events of a stream, each checked against the chain.
pub(super) async fn notes(session: &mut Session, stream: &str) -> Result<Vec<Note>> {
    let mut notes = vec![];
    for line in session.lines(Lines::Stream(stream, 0), u32::MAX).await? {
        let (seq, note) = (line.seq, note(line)?);
        if note.n != notes.len() as u64 + 1 {
            return Err(LedgerError::Tampered { seq });
        }
        notes.push(note);
    }
    Ok(notes)
}

/// The last event of a stream, checked against the chain.
pub(super) async fn last_note(session: &mut Session, stream: &str) -> Result<Option<Note>> {
    session.lines(Lines::Last(stream), 1).await?.pop().map(note).transpose()
}

fn note(line: Line) -> Result<Note> {
    line.check()?;
    Ok(Note { n: line.number()?, at_ms: line.at_ms, kind: line.kind, body: line.body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_counts() {
        let all = [
            link(&START, "rv-a", 1, 5, "asked", "{}"),
            link(&[1; 32], "rv-a", 1, 5, "asked", "{}"),
            link(&START, "rv-b", 1, 5, "asked", "{}"),
            link(&START, "rv-a", 2, 5, "asked", "{}"),
            link(&START, "rv-a", 1, 6, "asked", "{}"),
            link(&START, "rv-a", 1, 5, "aske", "d{}"),
            link(&START, "rv-a", 1, 5, "asked", "{ }"),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
