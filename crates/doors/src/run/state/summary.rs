//! The summaries of all tasks, read in one query.

use super::schema::Columns;
use super::{ErrorCode, ReviewStatus, TaskState};
use crate::run::status::issues_in;
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::collections::HashMap;
use std::future::poll_fn;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Summary {
    pub task_id: String,
    pub state: TaskState,
    pub attempts: u64,
    pub cost_usd: Option<f64>,
    pub error_code: Option<ErrorCode>,
    pub review_status: Option<ReviewStatus>,
    #[serde(skip)]
    pub issues: usize,
    pub review_id: Option<String>,
    /// When the task was last begun: local time without a zone.
    pub started_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// What the line of a task shows: with many tasks, formatting costs takes as long as finding them.
    Line,
    Whole,
}

/// All tasks, in no particular order. In one row, because each row costs a change of threads.
pub(super) async fn all(db: &mut SqliteConnection, columns: &Columns, of: Of) -> sqlx::Result<Vec<Summary>> {
    if !columns.has("tasks", "task_id") {
        return Ok(vec![]);
    }
    let text: String = sqlx::query_scalar(AssertSqlSafe(sql(columns, of))).fetch_one(&mut *db).await?;
    let rows: Vec<(Summary, Option<i64>)> =
        serde_json::from_str(&text).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    let found: Vec<i64> = rows.iter().filter_map(|(_, attempt)| *attempt).collect();
    let issues = issues(db, &found).await?;
    let of = |attempt: Option<i64>| attempt.and_then(|attempt| issues.get(&attempt).copied());
    Ok(rows
        .into_iter()
        .map(|(summary, attempt)| Summary { issues: of(attempt).unwrap_or_default(), ..summary })
        .collect())
}

/// A row is the fields of a [`Summary`] in their order, and the last attempt where its review has findings.
fn sql(columns: &Columns, of: Of) -> String {
    let started = columns.has("tasks", "started_at") && of == Of::Whole;
    let started = if started { "CAST(tasks.started_at AS TEXT)" } else { "NULL" };
    if !columns.has("attempts", "id") {
        return format!(
            "SELECT json_group_array(json_array(json_array(CAST(task_id AS TEXT), CAST(status AS TEXT), 0, NULL, NULL,
                NULL, NULL, {started}), NULL)) FROM tasks"
        );
    }
    let of_whole = ["cost_usd", "error_code", "countersign_code", "review_id"];
    let unneeded = |name| of == Of::Line && of_whole.contains(&name);
    let has = |name| columns.has("attempts", name) && !unneeded(name);
    let last = |name| if has(name) { format!("CAST(last.{name} AS TEXT)") } else { "NULL".to_owned() };
    let found = if has("review_findings") { "last.review_findings" } else { "NULL" };
    let cost = if has("cost_usd") { "CAST(SUM(attempts.cost_usd) AS REAL)" } else { "NULL" };
    format!(
        "SELECT json_group_array(json_array(json_array(CAST(ended.task_id AS TEXT), CAST(ended.status AS TEXT), ended.n,
                ended.cost, COALESCE({}, {}), {}, {}, ended.started), CASE WHEN {found} IS NULL THEN NULL ELSE ended.id END))
           FROM (SELECT tasks.task_id, tasks.status, COUNT(attempts.id) AS n, MAX(attempts.id) AS id, {cost} AS cost,
                        {started} AS started
                   FROM tasks LEFT JOIN attempts ON attempts.task_id = tasks.task_id
                  GROUP BY tasks.task_id) AS ended
           LEFT JOIN attempts AS last ON last.id = ended.id",
        last("countersign_code"),
        last("error_code"),
        last("review_status"),
        last("review_id"),
    )
}

async fn issues(db: &mut SqliteConnection, attempts: &[i64]) -> sqlx::Result<HashMap<i64, usize>> {
    const SQL: &str = "SELECT id, CAST(review_findings AS TEXT) FROM attempts
        WHERE id IN (SELECT value FROM json_each($1)) AND review_findings IS NOT NULL";
    let mut issues = HashMap::new();
    if attempts.is_empty() {
        return Ok(issues);
    }
    // Row by row, because all findings together would be large.
    let mut rows = sqlx::query(SQL).bind(serde_json::json!(attempts).to_string()).fetch(db);
    while let Some(row) = poll_fn(|context| rows.as_mut().poll_next(context)).await {
        let row = row?;
        issues.insert(row.try_get(0)?, issues_in(row.try_get(1)?));
    }
    Ok(issues)
}
