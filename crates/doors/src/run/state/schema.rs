//! The tables, and the columns that older files lack. Nothing is ever removed: unknown columns and tables stay.

use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::collections::HashSet;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tasks (
        task_id      TEXT PRIMARY KEY,
        status       TEXT NOT NULL DEFAULT 'pending',
        started_at   TEXT,
        completed_at TEXT
    );
    CREATE TABLE IF NOT EXISTS attempts (
        id               INTEGER PRIMARY KEY AUTOINCREMENT,
        task_id          TEXT NOT NULL REFERENCES tasks(task_id),
        timestamp        TEXT NOT NULL,
        success          INTEGER NOT NULL,
        duration_seconds REAL NOT NULL,
        error            TEXT,
        error_code       TEXT,
        claude_output    TEXT
    );
    CREATE TABLE IF NOT EXISTS executor_meta (
        key   TEXT PRIMARY KEY,
        value TEXT
    );
";

/// Columns that older files lack. The last two are our own: the review in the ledger, and our word for the error.
pub(super) const ADDED: [(&str, &str, &str); 12] = [
    ("tasks", "started_at", "TEXT"),
    ("tasks", "completed_at", "TEXT"),
    ("attempts", "error", "TEXT"),
    ("attempts", "error_code", "TEXT"),
    ("attempts", "claude_output", "TEXT"),
    ("attempts", "input_tokens", "INTEGER"),
    ("attempts", "output_tokens", "INTEGER"),
    ("attempts", "cost_usd", "REAL"),
    ("attempts", "review_status", "TEXT"),
    ("attempts", "review_findings", "TEXT"),
    ("attempts", "review_id", "TEXT"),
    ("attempts", "countersign_code", "TEXT"),
];

/// Attempts by task with their costs, so that summaries need no sorting. Older files are read without it.
const INDEX: &str = "countersign_attempts_by_task";

#[derive(Debug, Default)]
pub(super) struct Columns(HashSet<(String, String)>);

impl Columns {
    pub async fn of(db: &mut SqliteConnection) -> sqlx::Result<Self> {
        const SQL: &str = "SELECT 'tasks', name FROM pragma_table_info('tasks')
            UNION ALL SELECT 'attempts', name FROM pragma_table_info('attempts')
            UNION ALL SELECT 'executor_meta', name FROM pragma_table_info('executor_meta')";
        let rows = sqlx::query(SQL).fetch_all(db).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<sqlx::Result<_>>().map(Self)
    }

    pub fn has(&self, table: &str, column: &str) -> bool {
        self.0.contains(&(table.to_owned(), column.to_owned()))
    }
}

/// Adds missing tables and columns, inside a transaction of the caller.
pub(super) async fn complete(db: &mut SqliteConnection) -> sqlx::Result<()> {
    sqlx::raw_sql(TABLES).execute(&mut *db).await?;
    let columns = Columns::of(db).await?;
    for (table, column, kind) in ADDED.iter().filter(|(table, column, _)| !columns.has(table, column)) {
        // All three are constants.
        let sql = AssertSqlSafe(format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"));
        sqlx::raw_sql(sql).execute(&mut *db).await?;
    }
    let sql = format!("CREATE INDEX IF NOT EXISTS {INDEX} ON attempts (task_id, cost_usd)");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *db).await?;
    Ok(())
}

pub(super) async fn is_complete(db: &mut SqliteConnection) -> sqlx::Result<bool> {
    let columns = Columns::of(db).await?;
    let has_all = ADDED.iter().all(|(table, column, _)| columns.has(table, column));
    const SQL: &str = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND name = $1";
    let indexes: i64 = sqlx::query_scalar(SQL).bind(INDEX).fetch_one(db).await?;
    Ok(has_all && columns.has("executor_meta", "key") && indexes == 1)
}
