//! What SQLite reports, as errors of the ledger.

use super::super::LedgerError;
use super::open::{self, Access};
use libsqlite3_sys as sqlite;
use std::path::Path;

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
        LedgerError::ReadOnly(_) if !open::readable(dir) => {
            LedgerError::Unreadable("permission denied".to_owned())
        }
        LedgerError::ReadOnly(_) if open::access(dir) == Access::Write && is_full(dir) => {
            LedgerError::DiskFull
        }
        LedgerError::ReadOnly(words) if open::access(dir) == Access::Write => LedgerError::Other(words),
        other => other,
    }
}

fn is_full(dir: &Path) -> bool {
    let Ok(room) = rustix::fs::statvfs(dir) else { return false };
    let no_files_left = room.f_files > 0 && room.f_favail == 0;
    no_files_left || room.f_bavail.saturating_mul(room.f_frsize) < FULL_BELOW_BYTES
}

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
            sqlite::SQLITE_CORRUPT | sqlite::SQLITE_NOTADB => Self::Corrupt(words),
            sqlite::SQLITE_FULL => Self::DiskFull,
            sqlite::SQLITE_READONLY | sqlite::SQLITE_PERM | sqlite::SQLITE_CANTOPEN => Self::ReadOnly(words),
            _ if WRITES.contains(&code) => Self::WriteFailed(format!("{words}, SQLite code {code}")),
            _ => Self::Other(format!("{words} (SQLite code {code})")),
        }
    }
}
