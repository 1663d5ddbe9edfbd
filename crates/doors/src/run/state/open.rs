//! Opens the database for writing or reading, and imports the oldest form once.

use super::legacy::{Legacy, MAX_LEGACY_BYTES};
use super::{Layout, StateError, attempt, schema, set_meta};
use countersign_engine::yaml::read_at_most;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUSY_SECONDS: u64 = 10;
const MAX_COPIES: u32 = 100;
/// The key in `executor_meta` of a completed import: the file may still have its name.
const IMPORTED: &str = "countersign_json_imported";

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(Duration::from_secs(BUSY_SECONDS))
        .disable_statement_logging()
}

pub(super) async fn writer(layout: &Layout) -> Result<SqliteConnection, StateError> {
    let (path, json) = (layout.state_db(), layout.state_json());
    // First: a failed import must not leave an empty database behind.
    let legacy = read_legacy(&json)?;
    fs::create_dir_all(layout.spec()).map_err(|error| StateError::io(&path, &error))?;
    let sql = |error| StateError::sql(&path, error);
    let mut connection = options(&path).create_if_missing(true).connect().await.map_err(sql)?;
    let complete = schema::is_complete(&mut connection).await.map_err(sql)?;
    if !complete {
        // Fails while another process uses the file in the older mode, which works too.
        sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut connection).await.ok();
    }
    if complete && legacy.is_none() {
        return Ok(connection);
    }
    let imported = prepare(&mut connection, legacy.as_ref()).await.map_err(sql)?;
    if imported {
        rename(&json).map_err(|error| StateError::io(&json, &error))?;
    }
    Ok(connection)
}

/// A database in memory with what the oldest form says.
pub(super) async fn in_memory(layout: &Layout) -> Result<SqliteConnection, StateError> {
    let legacy = read_legacy(&layout.state_json())?;
    let sql = |error| StateError::sql(&layout.state_db(), error);
    let mut connection = options(Path::new(":memory:")).connect().await.map_err(sql)?;
    prepare(&mut connection, legacy.as_ref()).await.map_err(sql)?;
    Ok(connection)
}

/// Completes the tables and imports the oldest form, in one transaction. Whether that form is imported now.
async fn prepare(connection: &mut SqliteConnection, legacy: Option<&Legacy>) -> sqlx::Result<bool> {
    const KNOWN: &str = "SELECT (SELECT COUNT(*) FROM executor_meta WHERE key = $1),
        (SELECT COUNT(*) FROM tasks) + (SELECT COUNT(*) FROM attempts)";
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    schema::complete(&mut transaction).await?;
    let mut imported = false;
    if let Some(legacy) = legacy {
        let known: (i64, i64) = sqlx::query_as(KNOWN).bind(IMPORTED).fetch_one(&mut *transaction).await?;
        if known == (0, 0) {
            import(&mut transaction, legacy).await?;
        }
        // A crash may have kept an imported file from its new name. A database in use wins over a file.
        imported = known == (0, 0) || known.0 > 0;
    }
    transaction.commit().await?;
    Ok(imported)
}

async fn import(connection: &mut SqliteConnection, legacy: &Legacy) -> sqlx::Result<()> {
    const TASK: &str =
        "INSERT INTO tasks (task_id, status, started_at, completed_at) VALUES ($1, $2, $3, $4)";
    for (id, task) in &legacy.tasks {
        let query = sqlx::query(TASK).bind(id).bind(task.status.word()).bind(&task.started_at);
        query.bind(&task.completed_at).execute(&mut *connection).await?;
        for one in &task.attempts {
            attempt::insert(connection, id, one).await?;
        }
    }
    let counters = legacy.counters().chain([(IMPORTED, "1".to_owned())]);
    for (key, value) in counters {
        set_meta(connection, key, &value).await?;
    }
    Ok(())
}

pub(super) fn read_legacy(json: &Path) -> Result<Option<Legacy>, StateError> {
    match read_at_most(json, MAX_LEGACY_BYTES) {
        Ok(bytes) => Legacy::parse(json, &bytes).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StateError::io(json, &error)),
    }
}

fn rename(json: &Path) -> std::io::Result<()> {
    let name = |n: u32| {
        let mut name = json.as_os_str().to_owned();
        name.push(if n == 0 { ".bak".to_owned() } else { format!(".bak.{n}") });
        PathBuf::from(name)
    };
    let free = (0..MAX_COPIES).map(name).find(|copy| !copy.exists());
    let free = free.ok_or_else(|| std::io::Error::other("too many backup copies exist in this folder"))?;
    match fs::rename(json, free) {
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Opens for reading, and completes nothing. None where there is no database.
pub(super) async fn reader(layout: &Layout) -> Result<Option<SqliteConnection>, StateError> {
    use rustix::fs::Access;
    let path = layout.state_db();
    match fs::metadata(&path) {
        Ok(found) if found.len() == 0 => return Ok(None),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(StateError::io(&path, &error)),
    }
    // Reading a WAL database writes beside it. In a read-only folder without a WAL, the file is read as it is.
    let writable = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
    let options = match writable(&layout.spec()) && writable(&path) {
        true => options(&path),
        false => {
            let mut wal = path.clone().into_os_string();
            wal.push("-wal");
            let left = fs::metadata(PathBuf::from(wal)).is_ok_and(|wal| wal.len() > 0);
            options(&path).read_only(true).immutable(!left)
        }
    };
    let connection = options.connect().await.map_err(|error| StateError::sql(&path, error))?;
    Ok(Some(connection))
}
