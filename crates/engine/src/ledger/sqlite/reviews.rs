//! The table of reviews: one row each.

use super::super::projection::{Count, Row, outcome_text, state, state_text};
use super::super::store::Rows;
use super::super::{Filter, LedgerError, Result};
use super::{Session, number, range_end};
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::Outcome;
use countersign_core::review::State;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

fn state_of(row: &SqliteRow, review: &str) -> Result<(State, Option<Outcome>)> {
    let (name, outcome): (String, Option<String>) = (row.try_get("state")?, row.try_get("outcome")?);
    state(&name, outcome.as_deref()).ok_or(LedgerError::Mismatch(review.to_owned()))
}

fn read(row: &SqliteRow) -> Result<Row> {
    let id: String = row.try_get("id")?;
    let (state, standing) = state_of(row, &id)?;
    let subject = Subject::from_text(row.try_get::<String, _>("subject")?);
    if subject.door() != row.try_get::<String, _>("door")? {
        return Err(LedgerError::Mismatch(id));
    }
    let digest: Option<String> = row.try_get("digest")?;
    Ok(Row {
        id: ReviewId::from_text(id),
        opened_seq: number(row, "opened_seq")?,
        n: number(row, "n")?,
        subject,
        state,
        standing,
        round: row.try_get("round")?,
        attempts: row.try_get("attempts")?,
        digest: digest.and_then(|hex| blake3::Hash::from_hex(hex).ok()).map(Digest::from_hash),
        holder: row.try_get("holder")?,
        opened_ms: row.try_get("opened_ms")?,
        changed_ms: row.try_get("changed_ms")?,
        pruned: pruned(row)?,
    })
}

/// The event that records that it was pruned; older formats have no such column.
pub(super) fn pruned(row: &SqliteRow) -> Result<Option<u64>> {
    match row.try_get::<Option<i64>, _>("pruned") {
        Ok(seq) => Ok(seq.map(i64::cast_unsigned)),
        Err(sqlx::Error::ColumnNotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Session {
    pub async fn rows(&mut self, which: Rows<'_>) -> Result<Vec<Row>> {
        const OF: &str = "SELECT * FROM reviews WHERE id = $1";
        const LATEST: &str = "SELECT * FROM reviews WHERE subject = $1 ORDER BY opened_seq DESC LIMIT 1";
        const ALL: &str = "SELECT * FROM reviews WHERE opened_seq < $1 ORDER BY opened_seq DESC LIMIT $2";
        // The open ones are few: found by their own index, then sorted.
        const OPEN: &str = "SELECT * FROM reviews INDEXED BY reviews_one_open
            WHERE state <> 'settled' AND opened_seq < $1 ORDER BY opened_seq DESC LIMIT $2";
        const FOR: &str = "SELECT * FROM reviews WHERE subject = $1 AND opened_seq < $2
            AND ($3 = 0 OR state <> 'settled') ORDER BY opened_seq DESC LIMIT $4";
        // By their outcome, as `projection::outcome_text` writes it.
        const STOPPED: &str = "SELECT * FROM reviews WHERE state = 'settled' AND outcome IN
            ('stopped/attempts_used_up', 'stopped/not_converging', 'stopped/rejected_by_reviewer')
            ORDER BY opened_seq DESC LIMIT $1";
        const BY_ID: &str = "SELECT * FROM reviews WHERE id > $1 ORDER BY id LIMIT $2";
        let before = |filter: Filter| filter.before.map_or(i64::MAX, u64::cast_signed);
        let query = match which {
            Rows::Of(id) => sqlx::query(OF).bind(id.as_str()),
            Rows::Latest(subject) => sqlx::query(LATEST).bind(subject.as_str()),
            Rows::Page(filter) => {
                let sql = if filter.open_only { OPEN } else { ALL };
                sqlx::query(sql).bind(before(filter)).bind(filter.limit)
            }
            Rows::PageFor(subject, filter) => {
                let query = sqlx::query(FOR).bind(subject.as_str()).bind(before(filter));
                query.bind(filter.open_only).bind(filter.limit)
            }
            Rows::Stopped(limit) => sqlx::query(STOPPED).bind(limit),
            Rows::ById(after, limit) => sqlx::query(BY_ID).bind(after).bind(limit),
        };
        query.fetch_all(self.connection()).await?.iter().map(read).collect()
    }

    pub async fn ids(&mut self, prefix: &str, limit: u32) -> Result<Vec<String>> {
        const SQL: &str = "SELECT id FROM reviews WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3";
        let query = sqlx::query_scalar(SQL).bind(prefix).bind(range_end(prefix)).bind(limit);
        Ok(query.fetch_all(self.connection()).await?)
    }

    pub async fn subjects(&mut self, door: &str, ending: &str, limit: u32) -> Result<Vec<String>> {
        const SQL: &str = "SELECT DISTINCT subject FROM reviews
            WHERE door = $1 AND substr(subject, -length($2)) = $2 ORDER BY subject LIMIT $3";
        let query = sqlx::query_scalar(SQL).bind(door).bind(ending).bind(limit);
        Ok(query.fetch_all(self.connection()).await?)
    }

    pub async fn counts(&mut self) -> Result<Vec<Count>> {
        const SQL: &str = "SELECT state, outcome, COUNT(*) AS reviews FROM reviews GROUP BY state, outcome";
        let count = |row: &SqliteRow| {
            let (state, standing) = state_of(row, "of some kind")?;
            Ok(Count { state, standing, reviews: number(row, "reviews")? })
        };
        sqlx::query(SQL).fetch_all(self.connection()).await?.iter().map(count).collect()
    }

    pub async fn put_row(&mut self, row: &Row) -> Result<()> {
        const SQL: &str = "
            INSERT INTO reviews (opened_seq, id, n, subject, door, state, outcome, round, attempts, digest,
                                 opened_ms, changed_ms)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (id) DO UPDATE SET n = excluded.n, subject = excluded.subject, door = excluded.door,
                state = excluded.state, outcome = excluded.outcome, round = excluded.round,
                attempts = excluded.attempts, digest = excluded.digest, changed_ms = excluded.changed_ms";
        sqlx::query(SQL)
            .bind(row.opened_seq.cast_signed())
            .bind(row.id.as_str())
            .bind(row.n.cast_signed())
            .bind(row.subject.as_str())
            .bind(row.subject.door())
            .bind(state_text(row.state))
            .bind(row.standing.map(outcome_text))
            .bind(row.round)
            .bind(row.attempts)
            .bind(row.digest.as_ref().map(Digest::as_str))
            .bind(row.opened_ms)
            .bind(row.changed_ms)
            .execute(self.connection())
            .await?;
        Ok(())
    }

    pub async fn set_holder(&mut self, id: &ReviewId, holder: Option<&str>) -> Result<bool> {
        const SQL: &str = "UPDATE reviews SET holder = $2 WHERE id = $1";
        let done = sqlx::query(SQL).bind(id.as_str()).bind(holder).execute(self.connection()).await?;
        Ok(done.rows_affected() > 0)
    }
}
