//! Streams of doors: their own events beside reviews. The ledger keeps and chains them; only the door knows their meaning.

use super::entry::Line;
use super::store::{Lines, Session};
use super::{LedgerError, Result};

/// One event of a door's own stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number in the stream, from 1 and without gaps.
    pub n: u64,
    pub at_ms: i64,
    pub kind: String,
    pub body: String,
}

/// The events of a stream, each checked against the chain.
pub(super) async fn of(session: &mut Session, stream: &str) -> Result<Vec<Note>> {
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
pub(super) async fn last(session: &mut Session, stream: &str) -> Result<Option<Note>> {
    session.lines(Lines::Last(stream), 1).await?.pop().map(note).transpose()
}

fn note(line: Line) -> Result<Note> {
    line.check()?;
    Ok(Note { n: line.number()?, at_ms: line.at_ms, kind: line.kind, body: line.body })
}
