//! Opening the file: who may write, how connections are made, how a new ledger comes to be, and what SQLite reports as
//! errors of the ledger.

use super::super::{LedgerError, Result};
use super::schema::{self, DatabaseKind};
use libsqlite3_sys as sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

/// How long a connection waits for another process.
pub(super) const BUSY_SECONDS: u64 = 10;
/// How long to wait before trying again what SQLite itself does not wait for.
const AGAIN_MS: u64 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
    /// Reading a file that no process can write, and that needs no files beside it.
    Immutable,
}

pub const LEDGER_FILE: &str = "ledger.db";
/// The ledger's folder at the root of a project: outside of git, and where earlier versions had it.
pub const OUTSIDE_OF_GIT: &str = ".countersign";
const OWNER_WRITES: u32 = 0o200;
/// How the folder begins in which a new ledger is made.
const UNFINISHED: &str = "unfinished-";

pub fn file(dir: &Path) -> PathBuf {
    dir.join(LEDGER_FILE)
}

/// Device and inode of the file.
pub(super) fn identity(dir: &Path) -> Option<(u64, u64)> {
    fs::metadata(file(dir)).ok().map(|found| (found.dev(), found.ino()))
}

pub(super) fn options(dir: &Path, access: Access) -> SqliteConnectOptions {
    options_of(&file(dir), access)
}

pub(super) fn options_of(file: &Path, access: Access) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .read_only(access != Access::Write)
        .immutable(access == Access::Immutable)
        .foreign_keys(false)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(BUSY_SECONDS))
        .disable_statement_logging()
}

/// Opens for writing; makes the folder and the tables where there are none.
pub(super) async fn writer(dir: &Path) -> Result<SqliteConnection> {
    make_folder(dir)?;
    make_writable(dir)?;
    if file(dir).symlink_metadata().is_err() {
        create(dir).await?;
    }
    let mut connection = options(dir, Access::Write).connect().await?;
    match schema::inspect(&mut connection).await? {
        DatabaseKind::Ledger => {}
        DatabaseKind::First | DatabaseKind::Second => schema::complete(&mut connection).await?,
        DatabaseKind::Empty => return Err(LedgerError::Emptied),
    }
    // A ledger that was moved here is not in this mode yet.
    use_wal(&mut connection).await?;
    Ok(connection)
}

/// Makes a new ledger under another name first: a file of this name always has its tables, so an empty one was emptied.
async fn create(dir: &Path) -> Result<()> {
    let folder = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(dir)?;
    let made = options(folder.path(), Access::Write).create_if_missing(true).connect().await;
    let mut connection = made.map_err(LedgerError::from)?;
    use_wal(&mut connection).await?;
    schema::complete(&mut connection).await?;
    connection.close().await?;
    place(&file(folder.path()), dir)
}

/// Gives a finished file its name, unless another process was faster.
pub(super) fn place(finished: &Path, dir: &Path) -> Result<()> {
    match fs::hard_link(finished, file(dir)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    Ok(fs::File::open(dir)?.sync_all()?)
}

/// Makes the ledger's folder, and has git ignore it where git would look.
pub fn make_folder(dir: &Path) -> Result<()> {
    let made = fs::create_dir_all(dir.join("holders"));
    made.map_err(|error| match dir.is_file() {
        true => LedgerError::NotAFolder(dir.display().to_string()),
        false => error.into(),
    })?;
    ignore_by_git(dir)
}

/// Whether there is a file to read, and how it may be opened.
pub(super) fn look(dir: &Path) -> Result<Option<Access>> {
    match fs::metadata(file(dir)) {
        Ok(found) if found.len() == 0 => Err(LedgerError::Emptied),
        Ok(_) => {
            let access = access(dir);
            if access == Access::Write {
                make_writable(dir)?;
            }
            Ok(Some(access))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(LedgerError::Unreadable("permission denied".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// What SQLite keeps beside the file while it is open, and what a killed process leaves.
fn beside(dir: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|end| dir.join(format!("{LEDGER_FILE}{end}")))
}

fn can_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Makes a file writable that a killed process left beside the ledger: read-only it would stop every writer.
fn make_writable(dir: &Path) -> Result<()> {
    for path in beside(dir) {
        // The mode of a link is that of another file.
        let found = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file);
        let Some(found) = found.filter(|_| !can_write(&path)) else { continue };
        let mut permissions = found.permissions();
        permissions.set_mode(permissions.mode() | OWNER_WRITES);
        match fs::set_permissions(&path, permissions) {
            // The last process that had it open has removed it meanwhile.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let words = format!("`{}` is not writable: {}", path.display(), error.kind());
                return Err(LedgerError::ReadOnly(words));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the files beside the ledger are writable, or can be made so: only their owner can.
fn beside_writable(dir: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let is_own = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.uid() == own);
    // Asked last, because another process may remove it meanwhile.
    beside(dir).iter().all(|path| can_write(path) || is_own(path) || path.symlink_metadata().is_err())
}

/// Refuses what cannot be looked at: a question that does not know the earlier answers would be another one.
pub fn require_readable(dir: &Path) -> Result<()> {
    use rustix::fs::Access as Mode;
    let denied = |path: &Path, mode| rustix::fs::access(path, mode) == Err(rustix::io::Errno::ACCESS);
    // A file in place of the folder has words of its own.
    let is_closed = !dir.is_file() && denied(dir, Mode::EXEC_OK);
    match is_closed || denied(&file(dir), Mode::READ_OK) {
        true => Err(LedgerError::Unreadable("permission denied".to_owned())),
        false => Ok(()),
    }
}

pub fn is_writable(dir: &Path) -> bool {
    matches!(access(dir), Access::Write)
}

/// Reading a WAL database writes beside it. Where that is not possible and there is no WAL, it is read as immutable.
pub(super) fn access(dir: &Path) -> Access {
    if can_write(dir) && can_write(&file(dir)) && beside_writable(dir) {
        return Access::Write;
    }
    let [wal, _] = beside(dir);
    let has_wal = fs::metadata(wal).is_ok_and(|wal| wal.len() > 0);
    if can_write(dir) || has_wal { Access::Read } else { Access::Immutable }
}

pub fn ignore_by_git(dir: &Path) -> Result<()> {
    const EVERYTHING: &[u8] = b"*\n";
    // Git looks at nothing in its own folder.
    if dir.file_name() != Some(OUTSIDE_OF_GIT.as_ref()) {
        return Ok(());
    }
    let path = dir.join(".gitignore");
    // Written again where it was emptied: otherwise the ledger would be part of every change.
    if fs::read(&path).is_ok_and(|found| found == EVERYTHING) {
        return Ok(());
    }
    Ok(fs::write(path, EVERYTHING)?)
}

/// Switches to WAL, which allows readers beside a writer. SQLite does not wait for others here, so we do.
pub(super) async fn use_wal(connection: &mut SqliteConnection) -> Result<()> {
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

/// Below this much free space a failed write is put down to a full disk.
const FULL_BELOW_BYTES: u64 = 256 * 1024;

/// What SQLite reports where a file cannot grow.
const WRITES: [i32; 3] =
    [sqlite::SQLITE_IOERR_WRITE, sqlite::SQLITE_IOERR_TRUNCATE, sqlite::SQLITE_IOERR_SHMSIZE];

/// Looks at the disk where SQLite does not say enough: it reports a file it has no room or no handle for
/// as one that cannot be opened, read or written.
pub fn explain(error: LedgerError, dir: &Path) -> LedgerError {
    match error {
        LedgerError::Other(_) | LedgerError::WriteFailed(_) if is_full(dir) => LedgerError::DiskFull,
        LedgerError::ReadOnly(words) if require_readable(dir).is_ok() => match access(dir) {
            Access::Write if is_full(dir) => LedgerError::DiskFull,
            Access::Write => LedgerError::Other(words),
            Access::Read | Access::Immutable => LedgerError::ReadOnly(words),
        },
        LedgerError::ReadOnly(_) => LedgerError::Unreadable("permission denied".to_owned()),
        other => other,
    }
}

fn is_full(dir: &Path) -> bool {
    let Ok(room) = rustix::fs::statvfs(dir) else { return false };
    let no_files_left = room.f_files > 0 && room.f_favail == 0;
    no_files_left || room.f_bavail.saturating_mul(room.f_frsize) < FULL_BELOW_BYTES
}

/// What SQLite reports where a file cannot be read.
const READS: [i32; 3] =
    [sqlite::SQLITE_IOERR_READ, sqlite::SQLITE_IOERR_SHORT_READ, sqlite::SQLITE_IOERR_CORRUPTFS];

impl From<sqlx::Error> for LedgerError {
    fn from(error: sqlx::Error) -> Self {
        let database = match error {
            sqlx::Error::Database(database) => database,
            sqlx::Error::Io(error) => return error.into(),
            sqlx::Error::PoolTimedOut => return Self::Busy,
            // A text in a column of numbers: the file was edited.
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                return Self::Corrupt(error.to_string());
            }
            other => return Self::Other(other.to_string()),
        };
        let words = database.message().to_owned();
        if database.is_unique_violation() {
            return Self::Conflict;
        }
        // The low byte is the kind of failure, the rest its circumstances.
        let code = database.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or(sqlite::SQLITE_ERROR);
        match code & 0xff {
            sqlite::SQLITE_BUSY | sqlite::SQLITE_LOCKED => Self::Busy,
            sqlite::SQLITE_NOTADB => Self::Corrupt(words),
            // A disk that fails for a moment is reported like this too: see `damage`.
            sqlite::SQLITE_CORRUPT => Self::ReadFailed(words),
            _ if READS.contains(&code) => Self::ReadFailed(format!("{words}, SQLite code {code}")),
            sqlite::SQLITE_FULL => Self::DiskFull,
            sqlite::SQLITE_READONLY | sqlite::SQLITE_PERM | sqlite::SQLITE_CANTOPEN => Self::ReadOnly(words),
            _ if WRITES.contains(&code) => Self::WriteFailed(format!("{words}, SQLite code {code}")),
            _ => Self::Other(format!("{words} (SQLite code {code})")),
        }
    }
}
