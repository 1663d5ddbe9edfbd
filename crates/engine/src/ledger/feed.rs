//! Everything that happens, in the order it was recorded: reviews and the streams of doors alike.

use super::LedgerError;
use super::entry::Line;
use super::store::Session;

/// One recorded event of any stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number in the ledger, from 1 and without gaps: what a reader resumes by.
    pub seq: u64,
    /// The review it belongs to, or the stream of a door.
    pub stream: String,
    /// Its number in the stream, from 1 and without gaps.
    pub n: u64,
    /// When it was recorded.
    pub at_ms: i64,
    /// Its kind.
    pub kind: String,
    /// What happened, as JSON.
    pub body: String,
    /// What the review is about; none for streams of doors.
    pub subject: Option<String>,
}

/// The events after a number, oldest first, each checked against the chain.
pub(super) async fn after(session: &mut Session, seq: u64, limit: u32) -> Result<Vec<Recorded>, LedgerError> {
    let recorded = |(line, subject): (Line, _)| {
        line.check()?;
        let n = line.number()?;
        let Line { seq, stream, at_ms, kind, body, .. } = line;
        Ok(Recorded { seq, stream, n, at_ms, kind, body, subject })
    };
    session.feed(seq, limit).await?.into_iter().map(recorded).collect()
}
