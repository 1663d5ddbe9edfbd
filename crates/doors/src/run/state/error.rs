//! The errors of the state database, and what to do about each.

use libsqlite3_sys as sqlite;
use std::io;
use std::path::PathBuf;

/// Why the state of a run cannot be used. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("the state database {path} cannot be read: {1}", path = .0.display())]
    Damaged(PathBuf, String),
    #[error("another process keeps the state database {path} locked", path = .0.display())]
    Busy(PathBuf),
    #[error("the state database {path} cannot be used: {1}", path = .0.display())]
    Storage(PathBuf, String),
    #[error("{path}:{1}:{2}: the old state file cannot be imported: {3}", path = .0.display())]
    Legacy(PathBuf, usize, usize, String),
}

impl StateError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "nothing was changed: restore the file from a copy, or move it away to start with an empty state"
            }
            Self::Busy(_) => {
                "run the command again; if this does not help, end the process that has the file open"
            }
            Self::Storage { .. } => {
                "make the spec folder writable, free some space, and run the command again"
            }
            Self::Legacy { .. } => {
                "nothing was changed: fix the file, or move it away to start with an empty state"
            }
        }
    }

    pub(super) fn io(path: &std::path::Path, error: &io::Error) -> Self {
        Self::Storage(path.to_owned(), error.to_string())
    }

    pub(super) fn sql(path: &std::path::Path, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        let database = match error {
            sqlx::Error::Database(database) => database,
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                return Self::Damaged(path, error.to_string());
            }
            other => return Self::Storage(path, other.to_string()),
        };
        let why = database.message().to_owned();
        // The low byte is the kind of failure, the rest its circumstances.
        let code = database.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or(sqlite::SQLITE_ERROR);
        match code & 0xff {
            sqlite::SQLITE_BUSY | sqlite::SQLITE_LOCKED => Self::Busy(path),
            sqlite::SQLITE_CORRUPT | sqlite::SQLITE_NOTADB => Self::Damaged(path, why),
            _ => Self::Storage(path, why),
        }
    }
}
