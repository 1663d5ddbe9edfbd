//! The table of events, and the index of rulings that points into it. Long bodies are compressed.

use super::super::entry::Line;
use super::super::store::{End, Lines, Stream};
use super::super::{LedgerError, Result};
use super::packed::{self, Body};
use super::{Session, number, range_end};
use countersign_core::ids::ReviewId;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row};

const CHUNK_EVENTS: usize = 100;
const CHUNK_KEYS: usize = 500;
const CHUNK_PLACES: usize = 250;

/// A query for the columns of a [`Line`]; `p` is the event before `e`.
macro_rules! lines {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous",
            $columns,
            " FROM events e LEFT JOIN events p ON p.seq = e.seq - 1 ",
            $rest
        )
    };
}

fn line(row: &SqliteRow) -> Result<Line> {
    Ok(Line {
        seq: number(row, "seq")?,
        stream: row.try_get("stream")?,
        n: row.try_get("n")?,
        at_ms: row.try_get("at_ms")?,
        kind: row.try_get("kind")?,
        body: packed::text(row)?,
        chain: row.try_get("chain")?,
        previous: row.try_get("previous")?,
    })
}

impl Session {
    pub async fn end(&mut self, stream: &str) -> Result<End> {
        const SQL: &str = "
            SELECT COALESCE((SELECT MAX(n) FROM events WHERE stream = $1), 0) AS n,
                   COALESCE((SELECT MAX(seq) FROM events), 0) AS seq,
                   (SELECT chain FROM events ORDER BY seq DESC LIMIT 1) AS link";
        let row = sqlx::query(SQL).bind(stream).fetch_one(self.connection()).await?;
        Ok(End { n: number(&row, "n")?, seq: number(&row, "seq")?, link: row.try_get("link")? })
    }

    /// SQLite remembers the highest number it ever gave out: an end that was cut off is seen by it.
    pub async fn highest(&mut self) -> Result<u64> {
        const SQL: &str = "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
        let highest: i64 = sqlx::query_scalar(SQL).fetch_one(self.connection()).await?;
        Ok(highest.cast_unsigned())
    }

    pub async fn lines(&mut self, which: Lines<'_>, limit: u32) -> Result<Vec<Line>> {
        const STREAM: &str = lines!("", "WHERE e.stream = $1 AND e.n > $2 ORDER BY e.n LIMIT $3");
        const LAST: &str = lines!("", "WHERE e.stream = $1 ORDER BY e.n DESC LIMIT $2");
        const AFTER: &str = lines!("", "WHERE e.seq > $1 ORDER BY e.seq LIMIT $2");
        const REVIEWS_AFTER: &str =
            lines!("", "WHERE e.seq > $1 AND e.stream LIKE 'rv-%' ORDER BY e.seq LIMIT $2");
        const REVIEWS_BEFORE: &str =
            lines!("", "WHERE e.seq < $1 AND e.stream LIKE 'rv-%' ORDER BY e.seq DESC LIMIT $2");
        let signed = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        let query = match which {
            Lines::Stream(stream, n) => sqlx::query(STREAM).bind(stream).bind(signed(n)),
            Lines::Last(stream) => sqlx::query(LAST).bind(stream),
            Lines::After(seq) => sqlx::query(AFTER).bind(signed(seq)),
            Lines::ReviewsAfter(seq) => sqlx::query(REVIEWS_AFTER).bind(signed(seq)),
            Lines::ReviewsBefore(seq) => sqlx::query(REVIEWS_BEFORE).bind(signed(seq)),
        };
        query.bind(limit).fetch_all(self.connection()).await?.iter().map(line).collect()
    }

    pub async fn stream(&mut self, id: &ReviewId) -> Result<Stream> {
        // The row comes along, so that both are of the same moment.
        const SQL: &str = lines!(
            ", r.n AS known, r.holder",
            "LEFT JOIN reviews r ON r.id = e.stream WHERE e.stream = $1 ORDER BY e.n"
        );
        let rows = sqlx::query(SQL).bind(id.as_str()).fetch_all(self.connection()).await?;
        let (known, holder): (Option<i64>, _) = match rows.last() {
            Some(last) => (last.try_get("known")?, last.try_get("holder")?),
            None => (None, None),
        };
        let lines = rows.iter().map(line).collect::<Result<_, _>>()?;
        Ok(Stream { lines, known: known.and_then(|n| u64::try_from(n).ok()), holder })
    }

    pub async fn feed(&mut self, after: u64, limit: u32) -> Result<Vec<(Line, Option<String>)>> {
        const SQL: &str = lines!(
            ", r.subject",
            "LEFT JOIN reviews r ON r.id = e.stream WHERE e.seq > $1 ORDER BY e.seq LIMIT $2"
        );
        let query = sqlx::query(SQL).bind(after.cast_signed()).bind(limit);
        let rows = query.fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok((line(row)?, row.try_get("subject")?))).collect()
    }

    pub async fn streams(&mut self, prefix: &str, limit: u32) -> Result<Vec<String>> {
        const SQL: &str = "SELECT stream FROM events WHERE stream >= $1 AND stream < $2
            GROUP BY stream ORDER BY MAX(seq) DESC LIMIT $3";
        let query = sqlx::query_scalar(SQL).bind(prefix).bind(range_end(prefix)).bind(limit);
        Ok(query.fetch_all(self.connection()).await?)
    }

    pub async fn rulings(&mut self, under: &[String]) -> Result<Vec<(String, Line)>> {
        let mut all = vec![];
        for chunk in under.chunks(CHUNK_KEYS) {
            let places: Vec<String> = (1..=chunk.len()).map(|i| format!("${i}")).collect();
            // Only the placeholders differ, by how many keys there are.
            let sql = format!("{RULINGS} WHERE r.key IN ({})", places.join(", "));
            let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, key| query.bind(key));
            for row in query.fetch_all(self.connection()).await? {
                all.push((row.try_get("key")?, line(&row)?));
            }
        }
        Ok(all)
    }

    pub async fn append(&mut self, events: &[Line]) -> Result<()> {
        for chunk in events.chunks(CHUNK_EVENTS) {
            let mut insert = sqlx::QueryBuilder::<sqlx::Sqlite>::new(
                "INSERT INTO events (stream, at_ms, n, kind, body, chain) ",
            );
            insert.push_values(chunk, |mut row, line| {
                row.push_bind(&line.stream).push_bind(line.at_ms).push_bind(line.n);
                row.push_bind(&line.kind);
                match Body::of(&line.body) {
                    Body::Text(text) => row.push_bind(text),
                    Body::Packed(bytes) => row.push_bind(bytes),
                };
                row.push_bind(&line.chain);
            });
            let last = insert.build().execute(self.connection()).await?.last_insert_rowid();
            // SQLite never gives a number out twice: where it skips some, the last events were removed.
            if chunk.last().is_some_and(|line| line.seq != last.cast_unsigned()) {
                return Err(LedgerError::Tampered { seq: events[0].seq });
            }
        }
        Ok(())
    }

    pub async fn put_ruling(&mut self, under: &str, stream: &str, n: u64) -> Result<()> {
        const SQL: &str = "INSERT INTO rulings (key, stream, n) VALUES ($1, $2, $3)
            ON CONFLICT (key) DO UPDATE SET stream = excluded.stream, n = excluded.n";
        let insert = sqlx::query(SQL).bind(under).bind(stream).bind(n.cast_signed());
        insert.execute(self.connection()).await?;
        Ok(())
    }

    pub async fn index_after(&mut self, under: &str, limit: u32) -> Result<Vec<(String, Line)>> {
        let sql = format!("{RULINGS} WHERE r.key > $1 ORDER BY r.key LIMIT $2");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(under).bind(limit);
        let rows = query.fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok((row.try_get("key")?, line(row)?))).collect()
    }

    pub async fn prune(&mut self, stream: &str, kept: &[u64], mark: &str, record: u64) -> Result<()> {
        let places: Vec<String> = kept.iter().map(u64::to_string).collect();
        // Only numbers are put into it.
        let sql =
            format!("UPDATE events SET body = $1 WHERE stream = $2 AND n NOT IN ({})", places.join(", "));
        sqlx::query(AssertSqlSafe(sql)).bind(mark).bind(stream).execute(self.connection()).await?;
        const REPLIES: &str = "UPDATE calls SET reply = NULL WHERE review = $1";
        sqlx::query(REPLIES).bind(stream).execute(self.connection()).await?;
        const ROW: &str = "UPDATE reviews SET pruned = $2 WHERE id = $1";
        sqlx::query(ROW).bind(stream).bind(record.cast_signed()).execute(self.connection()).await?;
        Ok(())
    }

    /// Events by stream and number, as far as they are there.
    pub async fn at(&mut self, places: &[(String, u64)]) -> Result<Vec<Line>> {
        let mut all = vec![];
        for chunk in places.chunks(CHUNK_PLACES) {
            let pairs: Vec<String> =
                (0..chunk.len()).map(|i| format!("(${}, ${})", 2 * i + 1, 2 * i + 2)).collect();
            // Only the placeholders differ, by how many places there are.
            let sql = format!("{AT} {})", pairs.join(", "));
            let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (stream, n)| {
                query.bind(stream).bind(i64::try_from(*n).unwrap_or(i64::MAX))
            });
            for row in query.fetch_all(self.connection()).await? {
                all.push(line(&row)?);
            }
        }
        Ok(all)
    }
}

const AT: &str = lines!("", "WHERE (e.stream, e.n) IN (VALUES");

const RULINGS: &str = "
    SELECT r.key, e.seq, e.stream, e.n, e.at_ms, e.kind, e.body, e.chain, p.chain AS previous
      FROM rulings r
      JOIN events e ON e.stream = r.stream AND e.n = r.n
      LEFT JOIN events p ON p.seq = e.seq - 1";
