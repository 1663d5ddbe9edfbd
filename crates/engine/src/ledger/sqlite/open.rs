//! Opening the file: who may write, how connections are made, and how a new ledger comes to be.

use super::super::LedgerError;
use super::schema::{self, Found};
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a connection waits for another process.
pub(super) const BUSY_SECONDS: u64 = 10;
/// How long to wait before asking again for what SQLite itself does not wait for.
const AGAIN_MS: u64 = 5;

/// What may be done with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Everything.
    Write,
    /// Reading; others may write.
    Read,
    /// Reading a file that nobody can write, and that needs no files beside it.
    Immutable,
}

/// The name of the database in its folder.
pub const LEDGER_FILE: &str = "ledger.db";

/// Where the database is, inside its folder.
pub fn file(dir: &Path) -> PathBuf {
    dir.join(LEDGER_FILE)
}

/// Which file it is, whatever its name: none where there is none.
pub(super) fn identity(dir: &Path) -> Option<(u64, u64)> {
    fs::metadata(file(dir)).ok().map(|found| (found.dev(), found.ino()))
}

/// A connection that is not made yet.
pub(super) fn options(dir: &Path, access: Access) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file(dir))
        .read_only(access != Access::Write)
        .immutable(access == Access::Immutable)
        .foreign_keys(false)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(BUSY_SECONDS))
        .disable_statement_logging()
}

/// Opens for writing; makes the folder and the tables where there are none.
pub(super) async fn writer(dir: &Path) -> Result<SqliteConnection, LedgerError> {
    make_folder(dir)?;
    let mut connection = options(dir, Access::Write).create_if_missing(true).connect().await?;
    match schema::inspect(&mut connection).await? {
        Found::Ledger => {}
        Found::Older => schema::complete(&mut connection).await?,
        Found::Empty => {
            use_wal(&mut connection).await?;
            schema::complete(&mut connection).await?;
        }
    }
    Ok(connection)
}

/// Makes the ledger's folder, out of git's sight.
pub fn make_folder(dir: &Path) -> Result<(), LedgerError> {
    fs::create_dir_all(dir.join("holders"))?;
    ignore_by_git(dir)
}

/// Whether there is a file to read, and how it may be opened.
pub(super) fn look(dir: &Path) -> Result<Option<Access>, LedgerError> {
    match fs::metadata(file(dir)) {
        Ok(found) if found.len() == 0 => Ok(None),
        Ok(_) => Ok(Some(access(dir))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Even reading a WAL database writes beside it. Where that is not possible and no writer left anything
/// there, the file is read as it stands.
pub(super) fn access(dir: &Path) -> Access {
    use rustix::fs::Access as Mode;
    let writable = |path: &Path| rustix::fs::access(path, Mode::WRITE_OK).is_ok();
    if writable(dir) && writable(&file(dir)) {
        return Access::Write;
    }
    let beside = fs::metadata(dir.join("ledger.db-wal"));
    if writable(dir) || beside.is_ok_and(|wal| wal.len() > 0) { Access::Read } else { Access::Immutable }
}

pub fn ignore_by_git(dir: &Path) -> Result<(), LedgerError> {
    const EVERYTHING: &[u8] = b"*\n";
    let path = dir.join(".gitignore");
    // Written again where it was emptied: otherwise the ledger would be part of every change.
    if fs::read(&path).is_ok_and(|found| found == EVERYTHING) {
        return Ok(());
    }
    Ok(fs::write(path, EVERYTHING)?)
}

/// Readers and a writer at the same time. SQLite does not wait for others when it changes this, so we do.
async fn use_wal(connection: &mut SqliteConnection) -> Result<(), LedgerError> {
    let started = Instant::now();
    loop {
        match sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut *connection).await {
            Ok(_) => return Ok(()),
            Err(error) => match LedgerError::from(error) {
                LedgerError::Busy if started.elapsed().as_secs() < BUSY_SECONDS => {
                    tokio::time::sleep(Duration::from_millis(AGAIN_MS)).await;
                }
                other => return Err(other),
            },
        }
    }
}
