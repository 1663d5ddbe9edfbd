//! Errors of the ledger, each with an outcome and a hint.

use crate::fresh::NoRandom;
use countersign_core::outcome::Outcome;
use std::io;

pub(super) type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// Why the ledger could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A newer version wrote it.
    #[error("the ledger has format {found}, and this version of Countersign knows format {ours}")]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest format we know.
        ours: i64,
    },
    /// It is no readable database, or a damaged one.
    #[error("the ledger is damaged: {0}")]
    Corrupt(String),
    /// There is no room for it.
    #[error("the disk is full; nothing was recorded")]
    DiskFull,
    /// It may not be written.
    #[error("the ledger cannot be written: {0}")]
    ReadOnly(String),
    /// Somebody else kept it locked for too long.
    #[error("another process keeps the ledger locked")]
    Busy,
    /// Somebody else was faster: load again and decide again.
    #[error("the review changed meanwhile")]
    Conflict,
    /// An event is not what was recorded, or is gone.
    #[error("event {seq} of the ledger was changed or removed after it was recorded")]
    Tampered {
        /// Its number in the ledger.
        seq: u64,
    },
    /// What is read quickly and what was recorded do not agree.
    #[error("the summary of review {0} does not agree with its events")]
    Mismatch(String),
    /// The file was moved, removed or replaced while it was open.
    #[error("the ledger was moved, removed or replaced while it was in use; what was written last is lost")]
    Replaced,
    /// It is a database, and not a ledger.
    #[error("the file in the ledger's place is a database of another program")]
    NotALedger,
    /// An event that this version cannot read.
    #[error("event {seq} of the ledger is of a kind this version of Countersign cannot read: {kind}")]
    UnknownEvent {
        /// Its number in the ledger.
        seq: u64,
        /// Its kind.
        kind: String,
    },
    /// It came with the repository: what is judged would bring its own verdicts.
    #[error("git tracks `{0}`: a ledger that is part of the repository is not believed")]
    Tracked(String),
    /// There is no such review or call.
    #[error("the ledger has no {0}")]
    Missing(String),
    /// The disk or the database failed in some other way.
    #[error("the ledger failed: {0}")]
    Other(String),
}

impl LedgerError {
    /// How a command ends that meets this.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Tampered { .. } | Self::Mismatch { .. } | Self::Replaced | Self::Tracked(_) => {
                Outcome::Integrity
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
                "nothing was changed: restore .countersign/ledger.db from a copy, or move it away to begin anew"
            }
            Self::DiskFull => "free some space and run the command again",
            Self::ReadOnly(_) => "make the .countersign folder and its files writable",
            Self::Busy => {
                "run the command again; if it fails again, end the process that has the ledger open"
            }
            Self::Conflict => "run the command again",
            Self::Tampered { .. } | Self::Mismatch { .. } => {
                "somebody edited .countersign/ledger.db: restore it from a copy, or move it away to begin anew"
            }
            Self::Replaced => "put .countersign/ledger.db back, or run the command again to begin anew",
            Self::NotALedger => "nothing was changed: move .countersign/ledger.db away",
            Self::Tracked(_) => {
                "take it out of the repository: `git rm -r --cached .countersign`, commit that, and move the file away"
            }
            Self::Missing(_) => "run `countersign status` to see what there is",
            Self::Other(_) => {
                "run the command again; if it fails again, check that .countersign is a folder you can write to and that the disk has free space"
            }
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
            _ => Self::Other(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_ledger_is_a_matter_of_integrity_and_a_full_disk_is_not() {
        let edited =
            [LedgerError::Tampered { seq: 1 }, LedgerError::Mismatch("rv-a".into()), LedgerError::Replaced];
        let storage = [
            LedgerError::Newer { found: 2, ours: 1 },
            LedgerError::Corrupt("x".into()),
            LedgerError::DiskFull,
            LedgerError::ReadOnly("x".into()),
            LedgerError::Busy,
            LedgerError::NotALedger,
            LedgerError::UnknownEvent { seq: 1, kind: "x".into() },
        ];
        assert!(edited.iter().all(|error| error.outcome().exit_code() == 7));
        assert!(storage.iter().all(|error| error.outcome().exit_code() == 8));
    }
}
