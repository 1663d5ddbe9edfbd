//! What became of every task, in one query.

use super::schema::Columns;
use super::{ErrorCode, ReviewStatus, TaskState};
use crate::run::status::issues_in;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::future::poll_fn;

/// What became of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The task.
    pub task_id: String,
    /// What became of it.
    pub state: TaskState,
    /// How many attempts ended.
    pub attempts: u64,
    /// What they cost together, where any of them said so.
    pub cost_usd: Option<f64>,
    /// Why the last attempt failed.
    pub error_code: Option<ErrorCode>,
    /// How the review of the last attempt ended.
    pub review_status: Option<ReviewStatus>,
    /// How many issues it found; 0 where none are recorded.
    pub issues: usize,
    /// That review in the ledger.
    pub review_id: Option<String>,
}

/// Every task of the database, in no particular order.
pub(super) async fn all(connection: &mut SqliteConnection, columns: &Columns) -> sqlx::Result<Vec<Summary>> {
    if !columns.has("tasks", "task_id") {
        return Ok(vec![]);
    }
    let sql = match columns.has("attempts", "id") {
        false => "SELECT task_id, status, 0, NULL, NULL, NULL, NULL, NULL FROM tasks".to_owned(),
        true => {
            let or_null = |name| columns.or_null("attempts", name);
            let last = |name| match or_null(name) {
                "NULL" => "NULL".to_owned(),
                name => format!("CAST(last.{name} AS TEXT)"),
            };
            format!(
                "SELECT tasks.task_id, tasks.status, COALESCE(ended.n, 0), ended.cost, {}, {}, {}, {}
                   FROM tasks
                   LEFT JOIN (SELECT task_id, COUNT(*) AS n, MAX(id) AS id, CAST(SUM({}) AS REAL) AS cost
                                FROM attempts GROUP BY task_id) AS ended ON ended.task_id = tasks.task_id
                   LEFT JOIN attempts AS last ON last.id = ended.id",
                last("error_code"),
                last("review_status"),
                last("review_findings"),
                last("review_id"),
                or_null("cost_usd"),
            )
        }
    };
    // Row by row: findings are counted, not kept, and all of them together would be large.
    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(connection);
    let mut all = Vec::new();
    while let Some(row) = poll_fn(|context| rows.as_mut().poll_next(context)).await {
        all.push(summary(&row?)?);
    }
    Ok(all)
}

fn summary(row: &SqliteRow) -> sqlx::Result<Summary> {
    let word = |at: usize| row.try_get::<Option<&str>, _>(at);
    Ok(Summary {
        task_id: row.try_get(0)?,
        state: TaskState::from(row.try_get::<&str, _>(1)?),
        attempts: u64::try_from(row.try_get::<i64, _>(2)?).unwrap_or_default(),
        cost_usd: row.try_get(3)?,
        error_code: word(4)?.map(ErrorCode::from),
        review_status: word(5)?.map(ReviewStatus::from),
        issues: word(6)?.map_or(0, issues_in),
        review_id: row.try_get(7)?,
    })
}
