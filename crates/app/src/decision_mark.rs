//! Marks of decisions whose effects are under way. A process that ends between a decision and its effects leaves its
//! mark, and the next command that looks at tasks does the rest.

use crate::Failure;
use countersign_core::ids::ReviewId;
use countersign_engine::fresh;
use countersign_engine::ledger::Ledger;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = "decisions";

/// A mark, locked by its process: the kernel unlocks it when that ends in any way.
pub struct DecisionMark {
    pub review: ReviewId,
    path: PathBuf,
    _lock: File,
}

impl DecisionMark {
    /// Marks a decision before it is recorded; none where the ledger has no folder.
    pub fn set(ledger: &Ledger, review: &ReviewId) -> Result<Option<Self>, Failure> {
        let Some(dir) = ledger.dir() else { return Ok(None) };
        let unusable = |error: io::Error| {
            let folder = dir.join(FOLDER);
            Failure::internal(format!("nothing was decided: {} cannot be used: {error}", folder.display()))
        };
        let own = fresh::id().map_err(|error| Failure::internal(error.to_string()))?;
        Self::make(&dir.join(FOLDER), review, &own).map(Some).map_err(unusable)
    }

    fn make(folder: &Path, review: &ReviewId, own: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}.{own}", review.as_str()));
        let file = File::options().write(true).create_new(true).open(&path)?;
        file.lock()?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(Self { review: review.clone(), path, _lock: file })
    }

    /// The marks of processes that ended.
    pub fn left(ledger: &Ledger) -> Vec<Self> {
        let Some(entries) = ledger.dir().and_then(|dir| fs::read_dir(dir.join(FOLDER)).ok()) else {
            return vec![];
        };
        entries.flatten().filter_map(|entry| Self::of_ended(entry.path())).collect()
    }

    fn of_ended(path: PathBuf) -> Option<Self> {
        let review = ReviewId::from_text(path.file_name()?.to_str()?.split_once('.')?.0);
        let file = File::options().write(true).open(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self { review, path, _lock: file })
    }

    /// Nothing is left to do.
    pub fn remove(self) {
        // One that stays is looked at again, and then there is nothing to do.
        let _ = fs::remove_file(&self.path);
    }
}
