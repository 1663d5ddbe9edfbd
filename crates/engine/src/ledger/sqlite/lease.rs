//! Leases: each process keeps a lock on a file of its own. The kernel drops it when the process ends, however it
//! ends, so no clock has to tell whether another process is still alive.

use super::super::{LedgerError, Result};
use crate::fresh;
use countersign_core::ids::ID_ALPHABET;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How often a new name is tried.
const MAX_TRIES: u32 = 16;
/// How many files of dead processes one start clears away.
const MAX_SWEPT: usize = 64;

/// A name of this process, alive until it is dropped.
pub struct Lease {
    pub id: String,
    path: PathBuf,
    /// Its lock is what says that we are alive.
    _file: File,
}

impl Lease {
    /// Takes a name in the ledger's folder.
    pub fn new(dir: &Path) -> Result<Self> {
        let folder = folder(dir);
        fs::create_dir_all(&folder)?;
        sweep(dir);
        for _ in 0..MAX_TRIES {
            let id = fresh::id()?;
            let path = folder.join(&id);
            let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error.into()),
            };
            // Between making the file and locking it, another process may have taken it for a dead one's.
            if file.try_lock().is_ok() && path.exists() {
                // Tells people which process that is.
                write!(file, "{}", std::process::id())?;
                return Ok(Self { id, path, _file: file });
            }
        }
        Err(LedgerError::Other("no holder file could be locked".to_owned()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A file that stays is cleared away by the next process.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether the process behind this name is still there. The file of one that is not is removed.
pub fn is_alive(dir: &Path, id: &str) -> bool {
    // The name comes from a file that can be edited; it must not lead out of the folder.
    if id.is_empty() || !id.bytes().all(|byte| ID_ALPHABET.contains(&byte)) {
        return false;
    }
    let path = folder(dir).join(id);
    match File::open(&path).map(|file| (file.try_lock_shared(), file)) {
        // A shared lock, so that two who ask at the same time do not take each other for the holder.
        Ok((Ok(()), _locked)) => {
            fs::remove_file(&path).ok();
            false
        }
        // If the lock cannot be asked for: better wait for a dead process than do the work of a living one twice.
        Ok((Err(TryLockError::WouldBlock | TryLockError::Error(_)), _)) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The process behind a name, as it said itself.
pub fn process_of(dir: &Path, id: &str) -> Option<u32> {
    fs::read_to_string(folder(dir).join(id)).ok()?.trim().parse().ok()
}

fn folder(dir: &Path) -> PathBuf {
    dir.join("holders")
}

fn sweep(dir: &Path) {
    let Ok(names) = fs::read_dir(folder(dir)) else { return };
    for name in names.flatten().take(MAX_SWEPT) {
        if let Some(id) = name.file_name().to_str() {
            is_alive(dir, id);
        }
    }
}
