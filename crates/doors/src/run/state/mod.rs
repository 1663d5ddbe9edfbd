//! The state database of a run: tasks and all their attempts. A file of any age is read; the first write adds columns.

mod attempt;
mod codes;
mod error;
mod legacy;
mod open;
mod schema;
mod summary;
#[cfg(test)]
mod tests;

pub use attempt::Attempt;
pub use codes::{ErrorCode, ReviewStatus, TaskState};
pub use error::StateError;
pub use summary::{Of, Summary};

use super::layout::Layout;
use schema::Columns;
use sqlx::{Connection, SqliteConnection};
use std::path::PathBuf;
use tokio::sync::Mutex;

/// The summaries of all tasks, read-only, from the database or the oldest form. None where nothing ever ran.
pub async fn look(layout: &Layout, of: Of) -> Result<Option<Vec<Summary>>, StateError> {
    match State::open_existing(layout).await? {
        Some(state) => {
            let summaries = state.summaries_of(of).await?;
            state.close().await?;
            Ok(Some(summaries))
        }
        None => Ok(open::read_legacy(&layout.state_json())?.map(|legacy| legacy.summaries())),
    }
}

/// The state of a run. Times are local and without a zone, as `2026-02-23T10:15:00`.
pub struct State {
    path: PathBuf,
    columns: Columns,
    connection: Mutex<SqliteConnection>,
}

impl State {
    /// Opens for writing: makes or completes the database, and imports the oldest form once.
    pub async fn open(layout: &Layout) -> Result<Self, StateError> {
        let connection = open::writer(layout).await?;
        Self::new(layout, connection).await
    }

    /// Opens what is there and makes nothing: without a database it is in memory, with what the oldest form says.
    pub async fn open_to_look(layout: &Layout) -> Result<Self, StateError> {
        match Self::open_existing(layout).await? {
            Some(state) => Ok(state),
            None => Self::new(layout, open::in_memory(layout).await?).await,
        }
    }

    /// Opens read-only; none where there is no database.
    pub async fn open_existing(layout: &Layout) -> Result<Option<Self>, StateError> {
        match open::reader(layout).await? {
            Some(connection) => Self::new(layout, connection).await.map(Some),
            None => Ok(None),
        }
    }

    async fn new(layout: &Layout, mut connection: SqliteConnection) -> Result<Self, StateError> {
        let path = layout.state_db();
        let columns = Columns::of(&mut connection).await.map_err(|error| StateError::sql(&path, error))?;
        Ok(Self { path, columns, connection: Mutex::new(connection) })
    }

    /// Marks a task as running. A task that is running while the lock is free was interrupted.
    pub async fn begin_attempt(&self, task: &str, at: &str) -> Result<(), StateError> {
        const SQL: &str = "INSERT INTO tasks (task_id, status, started_at) VALUES ($1, 'running', $2)
            ON CONFLICT (task_id) DO UPDATE SET status = 'running', started_at = $2, completed_at = NULL";
        let query = sqlx::query(SQL).bind(task).bind(at);
        self.with(async |db| query.execute(db).await.map(drop)).await
    }

    /// Adds an attempt that ended and the state of the task, in one transaction. The number of the attempt.
    pub async fn finish_attempt(
        &self,
        task: &str,
        attempt: &Attempt,
        state: &TaskState,
    ) -> Result<i64, StateError> {
        self.with(async |db| {
            let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
            set(&mut transaction, task, state, &attempt.timestamp).await?;
            let id = attempt::insert(&mut transaction, task, &attempt.cut()).await?;
            transaction.commit().await?;
            Ok(id)
        })
        .await
    }

    pub async fn set_status(&self, task: &str, state: &TaskState, at: &str) -> Result<(), StateError> {
        self.with(async |db| set(db, task, state, at).await).await
    }

    /// The last attempts at a task with their numbers, newest first.
    pub async fn attempts(&self, task: &str, limit: u32) -> Result<Vec<(i64, Attempt)>, StateError> {
        self.with(async |db| attempt::last(db, &self.columns, task, limit).await).await
    }

    pub async fn summaries(&self) -> Result<Vec<Summary>, StateError> {
        self.summaries_of(Of::Whole).await
    }

    async fn summaries_of(&self, of: Of) -> Result<Vec<Summary>, StateError> {
        self.with(async |db| summary::all(db, &self.columns, of).await).await
    }

    pub async fn meta(&self, key: &str) -> Result<Option<String>, StateError> {
        const SQL: &str = "SELECT CAST(value AS TEXT) FROM executor_meta WHERE key = $1";
        if !self.columns.has("executor_meta", "key") {
            return Ok(None);
        }
        let query = sqlx::query_scalar(SQL).bind(key);
        self.with(async |db| query.fetch_optional(db).await.map(Option::flatten)).await
    }

    pub async fn set_meta(&self, key: &str, value: &str) -> Result<(), StateError> {
        self.with(async |db| set_meta(db, key, value).await).await
    }

    /// Closes the file, so that nothing is left beside it.
    pub async fn close(self) -> Result<(), StateError> {
        let Self { path, connection, .. } = self;
        connection.into_inner().close().await.map_err(|error| StateError::sql(&path, error))
    }

    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> sqlx::Result<T>,
    ) -> Result<T, StateError> {
        let mut connection = self.connection.lock().await;
        work(&mut connection).await.map_err(|error| StateError::sql(&self.path, error))
    }
}

async fn set_meta(connection: &mut SqliteConnection, key: &str, value: &str) -> sqlx::Result<()> {
    const SQL: &str = "INSERT INTO executor_meta (key, value) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlx::query(SQL).bind(key).bind(value).execute(connection).await.map(drop)
}

async fn set(connection: &mut SqliteConnection, task: &str, state: &TaskState, at: &str) -> sqlx::Result<()> {
    const SQL: &str = "INSERT INTO tasks (task_id, status, completed_at) VALUES ($1, $2, $3)
        ON CONFLICT (task_id) DO UPDATE SET status = $2, completed_at = $3";
    let over = matches!(state, TaskState::Success | TaskState::Failed | TaskState::Skipped);
    let query = sqlx::query(SQL).bind(task).bind(state.word()).bind(over.then_some(at));
    query.execute(connection).await.map(drop)
}
