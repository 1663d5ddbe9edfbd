//! The folder of a ledger: what is there, and what may be done with it.

use super::{Ledger, Result, sqlite};
use std::path::{Path, PathBuf};

impl Ledger {
    /// Whether a ledger can be written in this folder, which need not be there yet.
    pub fn is_writable(dir: &Path) -> bool {
        let there = dir.ancestors().find(|folder| folder.exists());
        match Self::is_in(dir) {
            true => sqlite::is_writable(dir),
            false => {
                there.is_some_and(|there| rustix::fs::access(there, rustix::fs::Access::WRITE_OK).is_ok())
            }
        }
    }

    /// Refuses a ledger that must not be read: without its records, work would look like new work.
    pub fn require_readable(dir: &Path) -> Result<()> {
        sqlite::require_readable(dir)
    }

    /// Does what every review does first, a write and a name of its own, and takes both back.
    pub async fn try_to_write(&self) -> Result<()> {
        let _holder = self.holder()?;
        drop(self.0.store.write().await?);
        Ok(())
    }

    /// Keeps the ledger's folder out of git's sight, where there is one.
    pub fn hide(dir: &Path) -> Result<()> {
        if dir.is_dir() { sqlite::ignore_by_git(dir) } else { Ok(()) }
    }

    pub fn is_in(dir: &Path) -> bool {
        sqlite::file(dir).symlink_metadata().is_ok()
    }

    /// Moves a ledger that does not count out of the way, to a new folder beside it.
    pub fn set_aside(dir: &Path) -> Result<PathBuf> {
        sqlite::set_aside(dir)
    }

    /// Makes the ledger's folder and nothing in it, for those who keep something beside the ledger.
    pub fn make_folder(dir: &Path) -> Result<()> {
        sqlite::make_folder(dir)
    }

    /// Moves the ledger that an earlier version kept in `old` to `new`, once; where there is none, or `new` has one, nothing
    /// is changed.
    pub async fn take_over(old: &Path, new: &Path) -> Result<bool> {
        sqlite::take_over(old, new).await
    }

    /// Whether a folder has a ledger, and not only the file that stays where one was moved away.
    pub fn is_left_to_move(old: &Path) -> Result<bool> {
        sqlite::is_left_to_move(old)
    }
}
