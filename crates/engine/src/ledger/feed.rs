//! Everything that happens, in the order it was recorded: reviews and the streams of doors alike.

use super::LedgerError;
use super::entry::Line;
use sqlx::{Row as _, SqliteConnection};

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
pub(super) async fn after(
    connection: &mut SqliteConnection,
    seq: u64,
    limit: u32,
) -> Result<Vec<Recorded>, LedgerError> {
    const SQL: &str = concat!(
        "SELECT e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous, r.subject ",
        "FROM events e LEFT JOIN events p ON p.seq = e.seq - 1 LEFT JOIN reviews r ON r.id = e.stream ",
        "WHERE e.seq > $1 ORDER BY e.seq LIMIT $2"
    );
    let rows = sqlx::query(SQL).bind(seq.cast_signed()).bind(limit).fetch_all(connection).await?;
    let recorded = |row| {
        let line = Line::read(row)?;
        line.check()?;
        let n = u64::try_from(line.n).map_err(|_| LedgerError::Tampered { seq: line.seq })?;
        let Line { seq, stream, at_ms, kind, body, .. } = line;
        Ok(Recorded { seq, stream, n, at_ms, kind, body, subject: row.try_get("subject")? })
    };
    rows.iter().map(recorded).collect()
}

/// The number of the last event; 0 where there is none.
pub(super) async fn last(connection: &mut SqliteConnection) -> Result<u64, LedgerError> {
    const SQL: &str = "SELECT COALESCE(MAX(seq), 0) FROM events";
    let last: i64 = sqlx::query_scalar(SQL).fetch_one(connection).await?;
    Ok(last.cast_unsigned())
}
