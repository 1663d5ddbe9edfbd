//! Errors of the ledger, each with an outcome and a hint.

use crate::fresh::NoRandom;
use countersign_core::outcome::Outcome;
use std::io;

pub(super) type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// Why the ledger could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the ledger has format {found}, and this version of Countersign knows format {ours}")]
    Newer { found: i64, ours: i64 },
    #[error("the ledger is damaged: {0}")]
    Corrupt(String),
    #[error("the disk is full; nothing was recorded")]
    DiskFull,
    /// No permission to write, or a read-only disk.
    #[error("the ledger cannot be written: {0}")]
    ReadOnly(String),
    #[error("the ledger cannot be read: {0}")]
    Unreadable(String),
    /// A read failed although reading is allowed; with the message of SQLite or the system. What is on the disk is sound.
    #[error("the ledger could not be read ({0}): the disk reported an error")]
    ReadFailed(String),
    /// A write failed although writing is allowed; with the message of SQLite or the system.
    #[error("the ledger could not be written ({0}): the disk is full, or a file size limit was reached")]
    WriteFailed(String),
    #[error("`{0}` is a file, but the ledger needs a folder of this name")]
    NotAFolder(String),
    /// Another process kept it locked for longer than we wait.
    #[error("another process keeps the ledger locked")]
    Busy,
    /// Another process wrote first: load again and decide again.
    #[error("another process changed the review in the meantime")]
    Conflict,
    #[error("event {seq} of the ledger was changed or removed after it was recorded")]
    Tampered { seq: u64 },
    #[error("the summary of review {0} does not agree with its events")]
    Mismatch(String),
    #[error("the verdict in event {n} of review {review} is not what its recorded rulings give")]
    NotItsRulings { review: String, n: u64 },
    /// Each as a table, a row, and what is wrong with it.
    #[error("the tables of the ledger do not agree with its events: {}", .0.join("; "))]
    Differs(Vec<String>),
    #[error("the ledger was moved, removed or replaced while it was in use; the last write is lost")]
    Replaced,
    #[error("the ledger file is a database of another program")]
    NotALedger,
    #[error("the ledger file is empty: its contents were removed")]
    Emptied,
    /// What this machine saw last of the ledger is not in it.
    #[error("{0}")]
    NotTheLatest(String),
    #[error("event {seq} of the ledger is of a kind this version of Countersign cannot read: {kind}")]
    UnknownEvent { seq: u64, kind: String },
    /// The ledger came with the repository: the judged work would bring its own verdicts.
    #[error("git tracks `{0}`: a ledger that is part of the repository is not trusted")]
    Tracked(String),
    #[error("the ledger has no {0}")]
    Missing(String),
    #[error(
        "review {review} was pruned on {on} by {by}: what it was about and how it ended is known, its events are gone"
    )]
    Pruned { review: String, on: String, by: String },
    #[error("line {line} is not a line of an export: {why}")]
    NotAnExport { line: u64, why: String },
    #[error("line {line} of the export was changed, removed or added after it was written")]
    ExportChanged { line: u64 },
    #[error("this export was imported before")]
    Imported,
    #[error("`{0}` exists already, and nothing is written over it")]
    Exists(String),
    #[error("the ledger failed: {0}")]
    Other(String),
}

impl LedgerError {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Tampered { .. }
            | Self::Mismatch(_)
            | Self::NotItsRulings { .. }
            | Self::Differs(_)
            | Self::ExportChanged { .. }
            | Self::Replaced
            | Self::Tracked(_)
            | Self::Emptied
            | Self::NotTheLatest(_) => Outcome::Integrity,
            Self::Pruned { .. } | Self::NotAnExport { .. } | Self::Imported | Self::Exists(_) => {
                Outcome::Usage
            }
            _ => Outcome::Internal,
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } | Self::UnknownEvent { .. } => {
                "update Countersign; the ledger was not touched"
            }
            Self::Corrupt(_) => {
                "nothing was changed: restore the file from a backup, or move it away to start a new one; `countersign doctor` names it"
            }
            Self::DiskFull => "free some space and run the command again",
            Self::ReadOnly(_) => {
                "make the folder of the ledger and its files writable; `countersign doctor` names it"
            }
            Self::Unreadable(_) => "make the folder of the ledger and its files readable for your user",
            Self::ReadFailed(_) => {
                "nothing was changed: run the command again; if it fails again, check the disk"
            }
            Self::WriteFailed(_) => {
                "earlier records are not lost: free some space or raise the limit (`ulimit -f`), then run the command again"
            }
            Self::NotAFolder(_) => "move this file away, then run the command again",
            Self::Busy => {
                "run the command again; if it fails again, end the process that has the ledger open"
            }
            Self::Conflict => "run the command again",
            Self::Differs(_) => {
                "a person can compute these tables again from the events, or restore the file from a backup"
            }
            Self::Tampered { .. } | Self::Mismatch(_) | Self::NotItsRulings { .. } | Self::Emptied => {
                "the file of the ledger was edited: restore it from a backup, or move it away to start a new one; `countersign doctor` names it"
            }
            Self::NotTheLatest(_) => {
                "put the latest ledger back, or look at this one and accept it, in a terminal: countersign trust"
            }
            Self::Replaced => "put the file of the ledger back, or run the command again to start a new one",
            Self::NotALedger => {
                "nothing was changed: move the file of the ledger away; `countersign doctor` names it"
            }
            Self::Tracked(_) => {
                "remove it from the repository: `git rm -r --cached .countersign`, commit, and move the file away"
            }
            Self::Missing(_) | Self::Imported => "`countersign log` lists the reviews",
            Self::Pruned { .. } => {
                "`countersign log` shows how it ended; submit the files again for findings"
            }
            Self::NotAnExport { .. } => {
                "nothing was imported: name a file that `countersign ledger export` has written"
            }
            Self::ExportChanged { .. } => "nothing was imported: have it exported again",
            Self::Exists(_) => "name another file, or move this one away",
            Self::Other(_) => "run the command again; if it fails again, check the disk",
        }
    }
}

impl From<NoRandom> for LedgerError {
    fn from(error: NoRandom) -> Self {
        Self::Other(error.0.to_string())
    }
}

impl From<io::Error> for LedgerError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly(error.to_string())
            }
            io::ErrorKind::FileTooLarge => Self::WriteFailed(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_ledger_is_a_matter_of_integrity_and_a_full_disk_is_not() {
        let edited = [
            LedgerError::Tampered { seq: 1 },
            LedgerError::Mismatch("rv-a".into()),
            LedgerError::Differs(vec![]),
            LedgerError::NotItsRulings { review: "rv-a".into(), n: 1 },
            LedgerError::Replaced,
            LedgerError::Emptied,
        ];
        let storage = [
            LedgerError::Newer { found: 2, ours: 1 },
            LedgerError::Corrupt("x".into()),
            LedgerError::DiskFull,
            LedgerError::ReadOnly("x".into()),
            LedgerError::Unreadable("x".into()),
            LedgerError::ReadFailed("x".into()),
            LedgerError::WriteFailed("x".into()),
            LedgerError::NotAFolder("x".into()),
            LedgerError::Busy,
            LedgerError::NotALedger,
            LedgerError::UnknownEvent { seq: 1, kind: "x".into() },
        ];
        assert!(edited.iter().all(|error| error.outcome().exit_code() == 7));
        assert!(storage.iter().all(|error| error.outcome().exit_code() == 8));
    }
}
