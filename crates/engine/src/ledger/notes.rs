//! Streams of doors: what they must remember beside reviews. The ledger keeps and chains them like all events;
//! what they mean, the door knows.

use super::LedgerError;
use super::entry::{Line, lines};
use sqlx::SqliteConnection;

/// One event of a door's own stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number in the stream, from 1 and without gaps.
    pub n: u64,
    /// When it was recorded.
    pub at_ms: i64,
    /// Its kind.
    pub kind: String,
    /// What happened, as JSON.
    pub body: String,
}

/// A stream, each event checked against the chain.
pub(super) async fn of(connection: &mut SqliteConnection, stream: &str) -> Result<Vec<Note>, LedgerError> {
    const SQL: &str = lines!("WHERE e.stream = $1 ORDER BY e.n");
    let rows = sqlx::query(SQL).bind(stream).fetch_all(connection).await?;
    let mut notes = vec![];
    for row in &rows {
        let line = Line::read(row)?;
        line.check()?;
        let n = u64::try_from(line.n).ok().filter(|n| *n == notes.len() as u64 + 1);
        let Some(n) = n else { return Err(LedgerError::Tampered { seq: line.seq }) };
        notes.push(Note { n, at_ms: line.at_ms, kind: line.kind, body: line.body });
    }
    Ok(notes)
}

/// The last event of a stream, checked against the chain.
pub(super) async fn last(
    connection: &mut SqliteConnection,
    stream: &str,
) -> Result<Option<Note>, LedgerError> {
    const SQL: &str = lines!("WHERE e.stream = $1 ORDER BY e.n DESC LIMIT 1");
    let Some(row) = sqlx::query(SQL).bind(stream).fetch_optional(connection).await? else { return Ok(None) };
    let line = Line::read(&row)?;
    line.check()?;
    let n = u64::try_from(line.n).map_err(|_| LedgerError::Tampered { seq: line.seq })?;
    Ok(Some(Note { n, at_ms: line.at_ms, kind: line.kind, body: line.body }))
}

/// The streams whose names begin like this, the one that changed last first.
pub(super) async fn named(
    connection: &mut SqliteConnection,
    prefix: &str,
    limit: u32,
) -> Result<Vec<String>, LedgerError> {
    const SQL: &str = "SELECT stream FROM events WHERE stream >= $1 AND stream < $2
        GROUP BY stream ORDER BY MAX(seq) DESC LIMIT $3";
    let end = format!("{prefix}{}", char::MAX);
    Ok(sqlx::query_scalar(SQL).bind(prefix).bind(end).bind(limit).fetch_all(connection).await?)
}
