//! The table of calls.

use super::super::calls::{Call, CallRow, CallState, Report, Scope, StartedCall};
use super::super::{LedgerError, Result};
use super::Session;
use super::schema::{self, DatabaseKind};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row};

const CHUNK_CALLS: usize = 100;

fn word(state: CallState) -> &'static str {
    match state {
        CallState::Asked => "asked",
        CallState::Answered => "answered",
        CallState::Failed => "failed",
    }
}

fn state(row: &SqliteRow) -> Result<CallState> {
    let found: String = row.try_get("state")?;
    let all = [CallState::Asked, CallState::Answered, CallState::Failed];
    let state = all.into_iter().find(|state| word(*state) == found);
    state.ok_or_else(|| LedgerError::Corrupt(format!("a call is in state '{found}'")))
}

fn read(row: &SqliteRow) -> Result<Call> {
    let count =
        |column: &str| Ok::<_, LedgerError>(row.try_get::<Option<i64>, _>(column)?.map(i64::cast_unsigned));
    Ok(Call {
        id: CallId::from_text(row.try_get::<String, _>("id")?),
        round: row.try_get("round")?,
        assignment: row.try_get("assignment")?,
        reviewer: row.try_get("reviewer")?,
        state: state(row)?,
        report: Report {
            model: row.try_get("model")?,
            tokens_in: count("tokens_in")?,
            tokens_out: count("tokens_out")?,
            cost_microusd: count("cost_microusd")?,
            reply: row.try_get("reply")?,
        },
    })
}

impl Session {
    pub async fn calls(&mut self, review: &ReviewId) -> Result<Vec<Call>> {
        const SQL: &str = "SELECT * FROM calls WHERE review = $1 ORDER BY rowid";
        let rows = sqlx::query(SQL).bind(review.as_str()).fetch_all(self.connection()).await?;
        rows.iter().map(read).collect()
    }

    pub async fn call(&mut self, id: &CallId) -> Result<Option<(CallState, String)>> {
        const SQL: &str = "SELECT state, review FROM calls WHERE id = $1";
        let row = sqlx::query(SQL).bind(id.as_str()).fetch_optional(self.connection()).await?;
        row.map(|row| Ok((state(&row)?, row.try_get("review")?))).transpose()
    }

    pub async fn calls_after(&mut self, id: &str, limit: u32) -> Result<Vec<CallRow>> {
        // The columns that the first format does not have are left out where they are not there.
        const SQL: &str = "SELECT * FROM calls WHERE id > $1 ORDER BY id LIMIT $2";
        let rows = sqlx::query(SQL).bind(id).bind(limit).fetch_all(self.connection()).await?;
        let count = |row: &SqliteRow, column: &str| match row.try_get::<i64, _>(column) {
            Err(sqlx::Error::ColumnNotFound(_)) => Ok(0),
            other => other,
        };
        let whole = |row: &SqliteRow| {
            let tokens = count(row, "reserved_tokens")?.cast_unsigned();
            let reserved = Spending { tokens, microusd: count(row, "reserved_microusd")?.cast_unsigned() };
            let (stream, asked_ms) = (row.try_get("review")?, count(row, "asked_ms")?);
            Ok(CallRow { call: read(row)?, stream, asked_ms, reserved })
        };
        rows.iter().map(whole).collect()
    }

    pub async fn spent(&mut self, scope: Scope<'_>) -> Result<Spending> {
        // TOTAL does not overflow, and a sum beyond what a float counts exactly is beyond every budget.
        macro_rules! sum {
            ($which:literal) => {
                concat!(
                    "SELECT TOTAL(COALESCE(tokens_in + tokens_out, reserved_tokens)),
                            TOTAL(COALESCE(cost_microusd, reserved_microusd)) FROM calls WHERE ",
                    $which
                )
            };
        }
        const REVIEW: &str = sum!("review = $1 AND round >= $2");
        const SINCE: &str = sum!("asked_ms >= $1");
        let query = match scope {
            Scope::Review(id, round) => sqlx::query(REVIEW).bind(id.as_str().to_owned()).bind(round),
            Scope::Since(at_ms) => sqlx::query(SINCE).bind(at_ms),
        };
        let row = query.fetch_one(self.connection()).await?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let whole = |sum: f64| sum as u64;
        Ok(Spending { tokens: whole(row.try_get(0)?), microusd: whole(row.try_get(1)?) })
    }

    pub async fn asked_since(&mut self, since_ms: i64) -> Result<Vec<(i64, Call)>> {
        macro_rules! asked {
            ($calls:literal) => {
                concat!(
                    "SELECT id, round, assignment, reviewer, state, model, tokens_in, tokens_out, cost_microusd,
                            NULL AS reply, asked_ms FROM ",
                    $calls,
                    " WHERE asked_ms >= $1"
                )
            };
        }
        const SQL: &str = asked!("calls");
        // A ledger that may not be completed: when a question was asked is what its event says.
        const FIRST: &str = asked!(
            "calls JOIN (SELECT json_extract(body, '$.call') AS call, at_ms AS asked_ms FROM events
                          WHERE kind = 'asked') ON call = calls.id"
        );
        let sql = if schema::inspect(self.connection()).await? == DatabaseKind::First { FIRST } else { SQL };
        let rows = sqlx::query(sql).bind(since_ms).fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok((row.try_get("asked_ms")?, read(row)?))).collect()
    }

    pub async fn begin_calls(&mut self, calls: &[StartedCall<'_>]) -> Result<()> {
        for chunk in calls.chunks(CHUNK_CALLS) {
            let mut insert = QueryBuilder::<sqlx::Sqlite>::new(
                "INSERT INTO calls (id, review, round, assignment, reviewer, state, asked_ms) ",
            );
            insert.push_values(chunk, |mut row, call| {
                row.push_bind(call.id.as_str()).push_bind(call.stream).push_bind(call.round);
                row.push_bind(call.assignment)
                    .push_bind(call.reviewer)
                    .push("'asked'")
                    .push_bind(call.asked_ms);
            });
            insert.build().execute(self.connection()).await?;
        }
        Ok(())
    }

    pub async fn set_call(&mut self, id: &CallId, state: CallState) -> Result<()> {
        let query = sqlx::query("UPDATE calls SET state = $2 WHERE id = $1");
        query.bind(id.as_str()).bind(word(state)).execute(self.connection()).await?;
        Ok(())
    }

    pub async fn report(&mut self, id: &CallId, report: &Report) -> Result<bool> {
        const SQL: &str = "UPDATE calls SET model = $2, tokens_in = $3, tokens_out = $4, cost_microusd = $5,
            reply = $6 WHERE id = $1";
        let done = sqlx::query(SQL)
            .bind(id.as_str())
            .bind(report.model.as_deref())
            .bind(report.tokens_in.map(u64::cast_signed))
            .bind(report.tokens_out.map(u64::cast_signed))
            .bind(report.cost_microusd.map(u64::cast_signed))
            .bind(report.reply.as_deref())
            .execute(self.connection())
            .await?;
        Ok(done.rows_affected() > 0)
    }

    pub async fn reserve(&mut self, id: &CallId, worst: Spending) -> Result<()> {
        const SQL: &str = "UPDATE calls SET reserved_tokens = $2, reserved_microusd = $3 WHERE id = $1";
        let query = sqlx::query(SQL).bind(id.as_str());
        let query = query.bind(worst.tokens.cast_signed()).bind(worst.microusd.cast_signed());
        query.execute(self.connection()).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::{Connection, SqliteConnection};

    /// What two questions of a day and one of a later day leave behind, as far as costs go.
    const ROWS: &str = "
        INSERT INTO calls (id, review, round, reviewer, state, tokens_in, tokens_out, cost_microusd, asked_ms)
        VALUES ('a', 'r', 1, 'main', 'answered', 5, 7, 9, 1000), ('b', 'r', 1, 'main', 'failed', NULL, 7, NULL, 2000),
               ('c', 'r', 2, 'main', 'answered', 1, 1, 1, 90000000);
        INSERT INTO events (stream, n, at_ms, kind, body, chain)
        VALUES ('r', 1, 1000, 'asked', '{\"call\": \"a\"}', x''), ('r', 2, 2000, 'asked', '{\"call\": \"b\"}', x''),
               ('r', 3, 90000000, 'asked', '{\"call\": \"c\"}', x'');
    ";
    const DOWN: &str = "
        DROP INDEX calls_by_time;
        ALTER TABLE calls DROP COLUMN asked_ms;
        ALTER TABLE calls DROP COLUMN reserved_microusd;
        PRAGMA user_version = 1;
    ";

    #[tokio::test]
    async fn costs_are_told_also_of_a_ledger_that_may_not_be_completed() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        schema::complete(&mut connection).await.unwrap();
        sqlx::raw_sql(ROWS).execute(&mut connection).await.unwrap();
        let mut session = Session::Snapshot(connection, std::path::Path::new("").into());
        let now = session.asked_since(0).await.unwrap();
        let asked: Vec<_> = now.iter().map(|(at_ms, call)| (*at_ms, call.report.tokens_in)).collect();
        assert_eq!(asked, [(1000, Some(5)), (2000, None), (90_000_000, Some(1))]);
        sqlx::raw_sql(DOWN).execute(session.connection()).await.unwrap();
        assert_eq!(session.asked_since(0).await.unwrap(), now);
        assert_eq!(session.asked_since(86_400_000).await.unwrap().len(), 1);
    }
}
