//! Attempts: one row each, written when an attempt ends and never changed or deleted.

use super::schema::{ADDED, Columns};
use super::{ErrorCode, ReviewStatus};
use crate::run::checkpoint::ReviewRecord;
use countersign_core::text::cut_noted;
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

pub(super) const MAX_FINDINGS_BYTES: usize = 2048;
/// The most bytes of an agent's reply that are kept; its log has all of it.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;
const NOTE_BYTES: usize = 80;

/// One attempt at a task. The oldest form of the state has these keys too.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Attempt {
    /// When it ended: local time without a zone, as `2026-02-23T10:15:00`.
    pub timestamp: String,
    pub success: bool,
    pub duration_seconds: f64,
    pub error: Option<String>,
    pub error_code: Option<ErrorCode>,
    #[serde(rename = "claude_output")]
    pub output: Option<String>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub cost_usd: Option<f64>,
    pub review_status: Option<ReviewStatus>,
    pub review_findings: Option<String>,
    #[serde(skip)]
    pub review_id: Option<String>,
}

impl Attempt {
    pub fn new(timestamp: &str, success: bool, duration_seconds: f64) -> Self {
        Self { timestamp: timestamp.to_owned(), success, duration_seconds, ..Self::default() }
    }

    pub(crate) fn reviewed(mut self, review: Option<&ReviewRecord>) -> Self {
        self.review_status = review.map(|review| review.status.clone());
        self.review_findings = review.and_then(|review| review.findings.clone());
        self.review_id = review.and_then(|review| review.id.as_ref()).map(ToString::to_string);
        self
    }

    /// The attempt as it is kept: long texts are cut between characters, with a note of how much is missing.
    pub(super) fn cut(&self) -> Self {
        let cut = |text: &Option<String>, max_bytes: usize| {
            let is_long = |text: &&String| text.len() > max_bytes;
            let long = text.as_ref().filter(is_long);
            long.map(|text| cut_noted(text, max_bytes - NOTE_BYTES).into_owned()).or_else(|| text.clone())
        };
        Self {
            error: cut(&self.error, MAX_OUTPUT_BYTES),
            output: cut(&self.output, MAX_OUTPUT_BYTES),
            review_findings: cut(&self.review_findings, MAX_FINDINGS_BYTES),
            ..self.clone()
        }
    }
}

pub(super) async fn insert(db: &mut SqliteConnection, task: &str, one: &Attempt) -> sqlx::Result<i64> {
    const SQL: &str = "INSERT INTO attempts
        (task_id, timestamp, success, duration_seconds, error, error_code, claude_output,
         input_tokens, output_tokens, cost_usd, review_status, review_findings, review_id, countersign_code)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let query = sqlx::query(SQL).bind(task).bind(&one.timestamp).bind(i64::from(one.success));
    let query = query.bind(one.duration_seconds).bind(&one.error);
    let query = query.bind(one.error_code.as_ref().map(ErrorCode::shared_word)).bind(&one.output);
    let query = query.bind(one.input_tokens).bind(one.output_tokens).bind(one.cost_usd);
    let query = query.bind(one.review_status.as_ref().map(ReviewStatus::word));
    let query = query.bind(&one.review_findings).bind(&one.review_id);
    let query = query.bind(one.error_code.as_ref().map(ErrorCode::word));
    Ok(query.execute(db).await?.last_insert_rowid())
}

pub(super) async fn last(
    db: &mut SqliteConnection,
    columns: &Columns,
    task: &str,
    limit: u32,
) -> sqlx::Result<Vec<(i64, Attempt)>> {
    if !columns.has("attempts", "id") {
        return Ok(vec![]);
    }
    // The columns after the fourth are those of `ADDED`, in its order.
    let added = ADDED.iter().filter(|(table, ..)| *table == "attempts");
    let added = added.map(|(table, name, kind)| match columns.has(table, name) {
        true => format!("CAST({name} AS {kind})"),
        false => format!("CAST(NULL AS {kind})"),
    });
    let sql = format!(
        "SELECT id, CAST(timestamp AS TEXT), CAST(success AS INTEGER), CAST(duration_seconds AS REAL), {}
           FROM attempts WHERE task_id = $1 ORDER BY id DESC LIMIT $2",
        added.collect::<Vec<_>>().join(", ")
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(task).bind(limit).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let word = |at: usize| row.try_get::<Option<String>, _>(at);
            let attempt = Attempt {
                timestamp: row.try_get(1)?,
                success: row.try_get::<i64, _>(2)? != 0,
                duration_seconds: row.try_get(3)?,
                error: word(4)?,
                error_code: word(13)?.or(word(5)?).map(|word| ErrorCode::from(word.as_str())),
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
