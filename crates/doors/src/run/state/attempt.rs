//! Attempts: one row each, written when one ends and never changed or deleted.

use super::schema::Columns;
use super::{ErrorCode, ReviewStatus};
use countersign_core::text::cut_noted;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

/// Findings are kept up to this size, the note on what is missing included.
pub const MAX_FINDINGS_BYTES: usize = 2048;
/// What an agent said is kept up to this size; all of it is in its log file.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Room for the note.
const NOTE_BYTES: usize = 80;

/// One attempt at a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// When it ended: local time without a zone, as `2026-02-23T10:15:00`.
    pub timestamp: String,
    /// Whether the task is done by it.
    pub success: bool,
    /// How long it took.
    pub duration_seconds: f64,
    /// What went wrong.
    pub error: Option<String>,
    /// The same in a word.
    pub error_code: Option<ErrorCode>,
    /// What the agent said.
    pub output: Option<String>,
    /// Tokens the agent read.
    pub input_tokens: Option<i64>,
    /// Tokens the agent wrote.
    pub output_tokens: Option<i64>,
    /// What it cost, where that is known.
    pub cost_usd: Option<f64>,
    /// How its review ended; none where there was none yet.
    pub review_status: Option<ReviewStatus>,
    /// What the review found.
    pub review_findings: Option<String>,
    /// The review in the ledger.
    pub review_id: Option<String>,
}

impl Attempt {
    /// An attempt about which nothing else is known.
    pub fn new(timestamp: &str, success: bool, duration_seconds: f64) -> Self {
        Self {
            timestamp: timestamp.to_owned(),
            success,
            duration_seconds,
            error: None,
            error_code: None,
            output: None,
            input_tokens: None,
            output_tokens: None,
            cost_usd: None,
            review_status: None,
            review_findings: None,
            review_id: None,
        }
    }
}

/// Findings as they are kept: cut between characters, with a note of how much is missing.
pub fn kept_findings(findings: &str) -> String {
    kept(findings, MAX_FINDINGS_BYTES)
}

fn kept(text: &str, max_bytes: usize) -> String {
    match text.len() <= max_bytes {
        true => text.to_owned(),
        false => cut_noted(text, max_bytes - NOTE_BYTES).into_owned(),
    }
}

pub(super) async fn insert(
    connection: &mut SqliteConnection,
    task: &str,
    one: &Attempt,
) -> sqlx::Result<i64> {
    const SQL: &str = "INSERT INTO attempts
        (task_id, timestamp, success, duration_seconds, error, error_code, claude_output,
         input_tokens, output_tokens, cost_usd, review_status, review_findings, review_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let output = one.output.as_deref().map(|text| kept(text, MAX_OUTPUT_BYTES));
    let error = one.error.as_deref().map(|text| kept(text, MAX_OUTPUT_BYTES));
    let query = sqlx::query(SQL).bind(task).bind(&one.timestamp).bind(i64::from(one.success));
    let query = query.bind(one.duration_seconds).bind(error);
    let query = query.bind(one.error_code.as_ref().map(ErrorCode::word)).bind(output);
    let query = query.bind(one.input_tokens).bind(one.output_tokens).bind(one.cost_usd);
    let query = query.bind(one.review_status.as_ref().map(ReviewStatus::word));
    let query = query.bind(one.review_findings.as_deref().map(kept_findings)).bind(&one.review_id);
    Ok(query.execute(connection).await?.last_insert_rowid())
}

/// The last attempts at a task with their numbers, newest first.
pub(super) async fn last(
    connection: &mut SqliteConnection,
    columns: &Columns,
    task: &str,
    limit: u32,
) -> sqlx::Result<Vec<(i64, Attempt)>> {
    if !columns.has("attempts", "id") {
        return Ok(vec![]);
    }
    let optional = [
        ("error", "TEXT"),
        ("error_code", "TEXT"),
        ("claude_output", "TEXT"),
        ("input_tokens", "INTEGER"),
        ("output_tokens", "INTEGER"),
        ("cost_usd", "REAL"),
        ("review_status", "TEXT"),
        ("review_findings", "TEXT"),
        ("review_id", "TEXT"),
    ];
    let optional =
        optional.map(|(name, kind)| format!("CAST({} AS {kind})", columns.or_null("attempts", name)));
    let sql = format!(
        "SELECT id, CAST(timestamp AS TEXT), CAST(success AS INTEGER), CAST(duration_seconds AS REAL), {}
           FROM attempts WHERE task_id = $1 ORDER BY id DESC LIMIT $2",
        optional.join(", ")
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(task).bind(limit).fetch_all(connection).await?;
    rows.iter()
        .map(|row| {
            let word = |at: usize| row.try_get::<Option<String>, _>(at);
            let attempt = Attempt {
                timestamp: row.try_get(1)?,
                success: row.try_get::<i64, _>(2)? != 0,
                duration_seconds: row.try_get(3)?,
                error: word(4)?,
                error_code: word(5)?.map(|word| ErrorCode::from(word.as_str())),
                output: word(6)?,
                input_tokens: row.try_get(7)?,
                output_tokens: row.try_get(8)?,
                cost_usd: row.try_get(9)?,
                review_status: word(10)?.map(|word| ReviewStatus::from(word.as_str())),
                review_findings: word(11)?,
                review_id: word(12)?,
            };
            Ok((row.try_get(0)?, attempt))
        })
        .collect()
}
