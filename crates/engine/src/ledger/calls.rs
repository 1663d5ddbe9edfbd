//! Calls: what questions cost, and what came back.

use super::LedgerError;
use super::schema::{self, Found};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::plan::CHECKS;
use countersign_core::review::{By, Event, Review};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

/// How many calls one statement begins.
const CHUNK_CALLS: usize = 100;

/// Longer replies are cut.
pub const MAX_REPLY_BYTES: usize = 64 * 1024;

/// What a reviewer reported about a call. Redact the reply before it comes here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens of the question.
    pub tokens_in: Option<u64>,
    /// Tokens of the reply.
    pub tokens_out: Option<u64>,
    /// The price, where it is known.
    pub cost_microusd: Option<u64>,
    /// The reply; cut at [`MAX_REPLY_BYTES`].
    pub reply: Option<String>,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// No answer yet; after a crash also: never.
    Asked,
    /// It brought a valid answer.
    Answered,
    /// It brought none.
    Failed,
}

/// One question to one reviewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The round it was asked in.
    pub round: u32,
    /// Index of the assignment in its round.
    pub assignment: Option<u32>,
    /// Who was asked.
    pub reviewer: String,
    /// Where it stands.
    pub state: CallState,
    /// What the reviewer reported.
    pub report: Report,
}

/// Follows events: a question begins a call, an answer or a failure ends it.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    review: &Review,
    events: &[Event],
    at_ms: i64,
) -> Result<(), LedgerError> {
    begin(connection, review, events, at_ms).await?;
    for event in events {
        match event {
            Event::Answered { by: By::Call { call, .. }, .. } => end(connection, call, true).await?,
            Event::AskFailed { call, .. } => end(connection, call, false).await?,
            _ => {}
        }
    }
    Ok(())
}

/// Begins the calls of all questions. A round asks everything at once, and the first answer waits for this.
async fn begin(
    connection: &mut SqliteConnection,
    review: &Review,
    events: &[Event],
    at_ms: i64,
) -> Result<(), LedgerError> {
    let asked = |event| match event {
        &Event::Asked { round, ref call, ref key, ref reviewer, .. } => Some((round, call, key, reviewer)),
        _ => None,
    };
    let asked: Vec<_> = events.iter().filter_map(asked).collect();
    for chunk in asked.chunks(CHUNK_CALLS) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "INSERT INTO calls (id, review, round, assignment, reviewer, state, asked_ms) ",
        );
        insert.push_values(chunk, |mut row, (round, call, key, reviewer)| {
            let round_asked = review.rounds.iter().find(|known| known.n == *round);
            let asks = round_asked.and_then(|round| round.asking(key).next());
            let assignment = asks.and_then(|(index, _)| u32::try_from(index).ok());
            row.push_bind(call.as_str()).push_bind(review.id.as_str()).push_bind(*round);
            row.push_bind(assignment).push_bind(reviewer.as_str()).push("'asked'").push_bind(at_ms);
        });
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Begins the call of a question that belongs to a door's stream, in place of a review.
pub(super) async fn begin_for(
    connection: &mut SqliteConnection,
    stream: &str,
    call: &CallId,
    reviewer: &str,
    at_ms: i64,
) -> Result<(), LedgerError> {
    const SQL: &str = "INSERT INTO calls (id, review, round, reviewer, state, asked_ms)
        VALUES ($1, $2, 0, $3, 'asked', $4)";
    let query = sqlx::query(SQL).bind(call.as_str()).bind(stream).bind(reviewer).bind(at_ms);
    query.execute(connection).await?;
    Ok(())
}

/// Ends a call.
pub(super) async fn end(
    connection: &mut SqliteConnection,
    call: &CallId,
    answered: bool,
) -> Result<(), LedgerError> {
    let state = if answered { "answered" } else { "failed" };
    let ended = sqlx::query("UPDATE calls SET state = $2 WHERE id = $1");
    ended.bind(call.as_str()).bind(state).execute(connection).await?;
    Ok(())
}

/// Notes what a reviewer reported.
pub(super) async fn report(
    connection: &mut SqliteConnection,
    call: &CallId,
    report: &Report,
) -> Result<(), LedgerError> {
    const SQL: &str = "UPDATE calls SET model = $2, tokens_in = $3, tokens_out = $4, cost_microusd = $5,
        reply = $6 WHERE id = $1";
    let done = sqlx::query(SQL)
        .bind(call.as_str())
        .bind(report.model.as_deref())
        .bind(report.tokens_in.map(signed))
        .bind(report.tokens_out.map(signed))
        .bind(report.cost_microusd.map(signed))
        .bind(report.reply.as_deref().map(cut))
        .execute(connection)
        .await?;
    match done.rows_affected() {
        0 => Err(LedgerError::Missing(format!("call {call}"))),
        _ => Ok(()),
    }
}

/// A count as SQLite keeps it. One that is too large must not become a negative one: reviewers say what they
/// like, and that would give back what others have spent.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Notes the most that a call may need.
pub(super) async fn reserve(
    connection: &mut SqliteConnection,
    call: &CallId,
    worst: Spending,
) -> Result<(), LedgerError> {
    const SQL: &str = "UPDATE calls SET reserved_tokens = $2, reserved_microusd = $3 WHERE id = $1";
    let query = sqlx::query(SQL).bind(call.as_str());
    query.bind(signed(worst.tokens)).bind(signed(worst.microusd)).execute(connection).await?;
    Ok(())
}

/// Which questions are added up.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// Those of a review, from a round on.
    Review(&'a ReviewId, u32),
    /// Those asked at this time or later.
    Since(i64),
}

/// What was spent, at the most: where a reviewer did not say what a question cost, what was reserved for it
/// counts, and a question that was broken off may have cost all of it.
pub(super) async fn spent(
    connection: &mut SqliteConnection,
    scope: Scope<'_>,
) -> Result<Spending, LedgerError> {
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
    let row = query.fetch_one(connection).await?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let whole = |sum: f64| sum as u64;
    Ok(Spending { tokens: whole(row.try_get(0)?), microusd: whole(row.try_get(1)?) })
}

/// What the questions to one reviewer and model cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The day they were asked on, in UTC, as `YYYY-MM-DD`.
    pub day: String,
    /// Who was asked.
    pub reviewer: String,
    /// The model that answered, where it is known.
    pub model: Option<String>,
    /// How many questions.
    pub questions: u64,
    /// Tokens of questions that said so.
    pub tokens_in: u64,
    /// Tokens of replies that said so.
    pub tokens_out: u64,
    /// How many did not say how many tokens they needed.
    pub tokens_unknown: u64,
    /// What those cost that said so.
    pub microusd: u64,
    /// How many did not say what they cost.
    pub cost_unknown: u64,
}

/// What questions cost, by day, reviewer and model. Our own checks are not asked and cost nothing.
pub(super) async fn costs(
    connection: &mut SqliteConnection,
    since_ms: i64,
) -> Result<Vec<Cost>, LedgerError> {
    // Where SUM would fail TOTAL goes on, and the cast ends at the largest number there is.
    macro_rules! sums {
        ($calls:literal) => {
            concat!(
                "SELECT date(asked_ms / 1000, 'unixepoch') AS day, reviewer, model, COUNT(*) AS questions,
                        CAST(TOTAL(tokens_in) AS INTEGER) AS tokens_in,
                        CAST(TOTAL(tokens_out) AS INTEGER) AS tokens_out,
                        SUM(tokens_in IS NULL OR tokens_out IS NULL) AS tokens_unknown,
                        CAST(TOTAL(cost_microusd) AS INTEGER) AS microusd,
                        SUM(cost_microusd IS NULL) AS cost_unknown
                   FROM ",
                $calls,
                " WHERE asked_ms >= $1 AND reviewer <> $2
                  GROUP BY day, reviewer, model
                  ORDER BY day DESC, microusd DESC, tokens_in DESC, reviewer, model"
            )
        };
    }
    const SQL: &str = sums!("calls");
    // One that may not be completed is read as it is: when a question was asked is what its event says.
    const OLDER: &str = sums!(
        "(SELECT calls.*, events.at_ms AS asked_ms FROM calls
            JOIN events ON events.kind = 'asked' AND json_extract(events.body, '$.call') = calls.id)"
    );
    let sql = if schema::inspect(connection).await? == Found::Older { OLDER } else { SQL };
    let rows = sqlx::query(sql).bind(since_ms).bind(CHECKS).fetch_all(connection).await?;
    let count =
        |row: &SqliteRow, column: &str| Ok::<_, LedgerError>(row.try_get::<i64, _>(column)?.cast_unsigned());
    let cost = |row: &SqliteRow| {
        Ok(Cost {
            day: row.try_get("day")?,
            reviewer: row.try_get("reviewer")?,
            model: row.try_get("model")?,
            questions: count(row, "questions")?,
            tokens_in: count(row, "tokens_in")?,
            tokens_out: count(row, "tokens_out")?,
            tokens_unknown: count(row, "tokens_unknown")?,
            microusd: count(row, "microusd")?,
            cost_unknown: count(row, "cost_unknown")?,
        })
    };
    rows.iter().map(cost).collect()
}

/// The calls of a review, in the order they were asked.
pub(super) async fn of(
    connection: &mut SqliteConnection,
    review: &ReviewId,
) -> Result<Vec<Call>, LedgerError> {
    const SQL: &str = "SELECT * FROM calls WHERE review = $1 ORDER BY rowid";
    let rows = sqlx::query(SQL).bind(review.as_str()).fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

/// Whether a call has no answer yet, and by whom its review is performed; none where there is no such call. A call of a
/// door's stream has nobody on record.
pub(super) async fn asked(
    connection: &mut SqliteConnection,
    call: &CallId,
) -> Result<Option<(bool, Option<String>)>, LedgerError> {
    const SQL: &str = "SELECT calls.state = 'asked', reviews.holder, reviews.id IS NOT NULL FROM calls
        LEFT JOIN reviews ON reviews.id = calls.review WHERE calls.id = $1";
    let Some(row) = sqlx::query(SQL).bind(call.as_str()).fetch_optional(connection).await? else {
        return Ok(None);
    };
    let (open, holder): (bool, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    let of_review: bool = row.try_get(2)?;
    // A review that nobody performs has no call under way.
    Ok(Some((open, holder.or_else(|| of_review.then(String::new)))))
}

fn read(row: &SqliteRow) -> Result<Call, LedgerError> {
    let count =
        |column: &str| Ok::<_, LedgerError>(row.try_get::<Option<i64>, _>(column)?.map(i64::cast_unsigned));
    let state = match row.try_get::<String, _>("state")?.as_str() {
        "asked" => CallState::Asked,
        "answered" => CallState::Answered,
        "failed" => CallState::Failed,
        other => return Err(LedgerError::Corrupt(format!("a call is in state '{other}'"))),
    };
    Ok(Call {
        id: CallId::from_text(row.try_get::<String, _>("id")?),
        round: row.try_get("round")?,
        assignment: row.try_get("assignment")?,
        reviewer: row.try_get("reviewer")?,
        state,
        report: Report {
            model: row.try_get("model")?,
            tokens_in: count("tokens_in")?,
            tokens_out: count("tokens_out")?,
            cost_microusd: count("cost_microusd")?,
            reply: row.try_get("reply")?,
        },
    })
}

/// The beginning of a reply, never half a character.
fn cut(reply: &str) -> &str {
    &reply[..reply.floor_char_boundary(MAX_REPLY_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Connection;

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
        let now = costs(&mut connection, 0).await.unwrap();
        let days: Vec<_> =
            now.iter().map(|cost| (cost.day.as_str(), cost.questions, cost.tokens_unknown)).collect();
        assert_eq!(days, [("1970-01-02", 1, 0), ("1970-01-01", 2, 1)]);
        sqlx::raw_sql(DOWN).execute(&mut connection).await.unwrap();
        assert_eq!(costs(&mut connection, 0).await.unwrap(), now);
        assert_eq!(costs(&mut connection, 86_400_000).await.unwrap().len(), 1);
    }
}
