//! Calls: what questions cost, and what came back.

use super::LedgerError;
use countersign_core::ids::{CallId, ReviewId};
use countersign_core::review::{By, Event, Review};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

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

/// Follows an event: a question begins a call, an answer or a failure ends it.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    review: &Review,
    event: &Event,
) -> Result<(), LedgerError> {
    const ASKED: &str = "INSERT INTO calls (id, review, round, assignment, reviewer, state)
        VALUES ($1, $2, $3, $4, $5, 'asked')";
    const ENDED: &str = "UPDATE calls SET state = $2 WHERE id = $1";
    let (call, state) = match event {
        Event::Asked { round, call, key, reviewer } => {
            let round_asked = review.rounds.iter().find(|known| known.n == *round);
            let asks = round_asked.and_then(|round| round.asking(key).next());
            let assignment = asks.and_then(|(index, _)| u32::try_from(index).ok());
            let insert = sqlx::query(ASKED).bind(call.as_str()).bind(review.id.as_str()).bind(round);
            insert.bind(assignment).bind(reviewer).execute(connection).await?;
            return Ok(());
        }
        Event::Answered { by: By::Call { call, .. }, .. } => (call, "answered"),
        Event::AskFailed { call, .. } => (call, "failed"),
        _ => return Ok(()),
    };
    sqlx::query(ENDED).bind(call.as_str()).bind(state).execute(connection).await?;
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
        .bind(report.tokens_in.map(u64::cast_signed))
        .bind(report.tokens_out.map(u64::cast_signed))
        .bind(report.cost_microusd.map(u64::cast_signed))
        .bind(report.reply.as_deref().map(cut))
        .execute(connection)
        .await?;
    match done.rows_affected() {
        0 => Err(LedgerError::Missing(format!("call {call}"))),
        _ => Ok(()),
    }
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
