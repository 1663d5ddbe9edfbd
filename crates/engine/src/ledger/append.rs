//! Appending: new events at the end of the ledger, each chained to the one before it.

use super::{LedgerError, chain};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

/// How many events one statement writes.
const CHUNK_EVENTS: usize = 100;

/// Where the ledger and a stream end.
pub(super) struct End {
    /// How many events the stream has.
    pub(super) n: u64,
    seq: u64,
    link: Vec<u8>,
}

/// Looks where the ledger and a stream end.
pub(super) async fn end(connection: &mut SqliteConnection, stream: &str) -> Result<End, LedgerError> {
    const SQL: &str = "
        SELECT COALESCE((SELECT MAX(n) FROM events WHERE stream = $1), 0) AS n,
               COALESCE((SELECT MAX(seq) FROM events), 0) AS seq,
               (SELECT chain FROM events ORDER BY seq DESC LIMIT 1) AS link";
    let row = sqlx::query(SQL).bind(stream).fetch_one(connection).await?;
    let link: Option<Vec<u8>> = row.try_get("link")?;
    Ok(End {
        n: super::entry::number(&row, "n")?,
        seq: super::entry::number(&row, "seq")?,
        link: link.unwrap_or_else(|| chain::START.to_vec()),
    })
}

/// Writes events at the end, each a kind and a body; returns the number of the first in the ledger.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    mut end: End,
    stream: &str,
    at_ms: i64,
    events: &[(&str, String)],
) -> Result<u64, LedgerError> {
    let first = end.seq + 1;
    for chunk in events.chunks(CHUNK_EVENTS) {
        let mut query = sqlx::query(AssertSqlSafe(statement(chunk.len()))).bind(stream).bind(at_ms);
        for (kind, body) in chunk {
            end.n += 1;
            end.seq += 1;
            let n = end.n.cast_signed();
            end.link = chain::link(&end.link, stream, n, at_ms, kind, body).to_vec();
            query = query.bind(n).bind(*kind).bind(body.as_str()).bind(end.link.clone());
        }
        let last = query.execute(&mut *connection).await?.last_insert_rowid();
        // SQLite never gives a number out twice: where it skips some, the last events were removed.
        if last.cast_unsigned() != end.seq {
            return Err(LedgerError::Tampered { seq: first });
        }
    }
    Ok(first)
}

/// Only the placeholders differ, by how many events there are.
fn statement(events: usize) -> String {
    let values = |i: usize| format!("($1, $2, ${}, ${}, ${}, ${})", i + 3, i + 4, i + 5, i + 6);
    let values: Vec<String> = (0..events).map(|i| values(4 * i)).collect();
    format!("INSERT INTO events (stream, at_ms, n, kind, body, chain) VALUES {}", values.join(", "))
}
