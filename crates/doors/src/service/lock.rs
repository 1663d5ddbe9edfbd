//! The lock files of task reviews, beside the ledger. The kernel unlocks them when their holder ends in any way.

use countersign_core::digest::Digest;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const ENDING: &str = "lock";

pub(super) fn folder(ledger_dir: &Path) -> PathBuf {
    ledger_dir.join("service")
}

/// Opens or makes a lock file, which is never replaced.
pub(super) fn open(ledger_dir: &Path, name: &str) -> io::Result<File> {
    std::fs::create_dir_all(folder(ledger_dir))?;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path(ledger_dir, name))
}

pub(super) fn name_of(subject: &str) -> String {
    let digest = Digest::of(subject.as_bytes());
    digest.as_str().get(..32).unwrap_or(digest.as_str()).to_owned()
}

pub(super) fn is_held(ledger_dir: &Path, name: &str) -> bool {
    is_locked(&path(ledger_dir, name))
}

pub(super) fn is_any_held(ledger_dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder(ledger_dir)) else { return false };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == ENDING)).any(|path| is_locked(&path))
}

fn path(ledger_dir: &Path, name: &str) -> PathBuf {
    folder(ledger_dir).join(format!("{name}.{ENDING}"))
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
