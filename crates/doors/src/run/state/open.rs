//! Opening the database: completing one of any age, and taking over the oldest form once.

use super::legacy::{Legacy, MAX_LEGACY_BYTES};
use super::{Layout, StateError, attempt, schema};
use countersign_engine::yaml::read_at_most;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection waits for another process.
const BUSY_SECONDS: u64 = 10;
/// How many copies of the oldest form are kept apart.
const MAX_COPIES: u32 = 100;
/// Says in `executor_meta` that the oldest form was taken over: the file may still have its name.
const IMPORTED: &str = "countersign_json_imported";

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(Duration::from_secs(BUSY_SECONDS))
        .disable_statement_logging()
}

/// Opens for writing; makes what is missing.
pub(super) async fn writer(layout: &Layout) -> Result<SqliteConnection, StateError> {
    let (path, json) = (layout.state_db(), layout.state_json());
    // First: what cannot be taken over must not leave an empty database behind.
    let legacy = read_legacy(&json)?;
    fs::create_dir_all(layout.spec()).map_err(|error| StateError::io(&path, &error))?;
    let sql = |error| StateError::sql(&path, error);
    let mut connection = options(&path).create_if_missing(true).connect().await.map_err(sql)?;
    let complete = schema::is_complete(&mut connection).await.map_err(sql)?;
    if !complete {
        // Only a file that somebody else uses in the older way right now cannot be changed; it works like that too.
        sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut connection).await.ok();
    }
    if complete && legacy.is_none() {
        return Ok(connection);
    }
    let taken = prepare(&mut connection, legacy.as_ref()).await.map_err(sql)?;
    if taken {
        rename(&json).map_err(|error| StateError::io(&json, &error))?;
    }
    Ok(connection)
}

/// Completes the tables and takes the oldest form over, together or not at all. Whether that form is now here.
async fn prepare(connection: &mut SqliteConnection, legacy: Option<&Legacy>) -> sqlx::Result<bool> {
    const KNOWN: &str = "SELECT (SELECT COUNT(*) FROM executor_meta WHERE key = $1),
        (SELECT COUNT(*) FROM tasks) + (SELECT COUNT(*) FROM attempts)";
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    schema::complete(&mut transaction).await?;
    let mut taken = false;
    if let Some(legacy) = legacy {
        let known: (i64, i64) = sqlx::query_as(KNOWN).bind(IMPORTED).fetch_one(&mut *transaction).await?;
        match known {
            (0, 0) => {
                import(&mut transaction, legacy).await?;
                taken = true;
            }
            // Ours, and we were killed before the file had its new name.
            (1.., _) => taken = true,
            // A database that is in use wins over a file somebody left.
            (_, _) => {}
        }
    }
    transaction.commit().await?;
    Ok(taken)
}

async fn import(connection: &mut SqliteConnection, legacy: &Legacy) -> sqlx::Result<()> {
    const TASK: &str =
        "INSERT INTO tasks (task_id, status, started_at, completed_at) VALUES ($1, $2, $3, $4)";
    const META: &str = "INSERT INTO executor_meta (key, value) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    for (id, task) in &legacy.tasks {
        let query = sqlx::query(TASK).bind(id).bind(task.status.word()).bind(&task.started_at);
        query.bind(&task.completed_at).execute(&mut *connection).await?;
        for one in &task.attempts {
            attempt::insert(connection, id, one).await?;
        }
    }
    let counters = legacy.counters().chain([(IMPORTED, "1".to_owned())]);
    for (key, value) in counters {
        sqlx::query(META).bind(key).bind(value).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The oldest form, where it is there.
pub(super) fn read_legacy(json: &Path) -> Result<Option<Legacy>, StateError> {
    match read_at_most(json, MAX_LEGACY_BYTES) {
        Ok(bytes) => Legacy::parse(json, &bytes).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StateError::io(json, &error)),
    }
}

/// Gives the file that was taken over its new name, and never another file's.
fn rename(json: &Path) -> std::io::Result<()> {
    let name = |n: u32| {
        let mut name = json.as_os_str().to_owned();
        name.push(if n == 0 { ".bak".to_owned() } else { format!(".bak.{n}") });
        PathBuf::from(name)
    };
    let free = (0..MAX_COPIES).map(name).find(|copy| !copy.exists());
    let free = free.ok_or_else(|| std::io::Error::other("there are too many copies beside it"))?;
    match fs::rename(json, free) {
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Opens for reading; makes and completes nothing. None where there is no database.
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
    // Even reading a WAL database writes beside it. Where that is not possible and no writer left anything there,
    // the file is read as it stands.
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
