//! Private temporary folders for a question, a task or a comparison.
//!
//! The process holds a lock on a file in each of its folders. The kernel drops it when the process ends, however it
//! ends, so the next process can tell what a killed one left and remove it.

use crate::private;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use tempfile::TempDir;

const PREFIX: &str = "countersign-";
/// The folder for all users, where nobody can rename what is not theirs, nor the folder.
const SHARED: &str = "/tmp";
const LOCK: &str = ".countersign-lock";
/// How often to try for a folder that no other process takes for an abandoned one.
const MAX_TRIES: u32 = 16;
/// How many folders of dead processes one process clears away.
const MAX_SWEPT: usize = 256;

/// A folder that is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Its lock says that the folder is in use.
    _lock: File,
}

impl Scratch {
    /// Makes one, with a name that says what it is for.
    pub fn new(what: &str) -> io::Result<Self> {
        Self::made(std::env::temp_dir(), what)
    }

    /// Makes one that cannot be exchanged unseen: not in a folder of this user, which could be replaced as a whole.
    pub fn shielded(what: &str) -> io::Result<Self> {
        let usual = std::env::temp_dir();
        let user = rustix::process::getuid();
        let is_own = |folder: &Path| folder.metadata().is_ok_and(|found| found.uid() == user.as_raw());
        let shared = Path::new(SHARED);
        let is_usable = !is_own(shared) && rustix::fs::access(shared, rustix::fs::Access::WRITE_OK).is_ok();
        let is_better = !user.is_root() && is_own(&usual) && is_usable;
        Self::made(if is_better { shared.to_owned() } else { usual }, what)
    }

    fn made(within: PathBuf, what: &str) -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        let scratch = Self::within(&within, what)?;
        in_use().insert(scratch.path().to_owned());
        // No caller waits for it. If this process ends first, the next one goes on.
        SWEPT.call_once(|| drop(std::thread::Builder::new().spawn(move || sweep(&within))));
        Ok(scratch)
    }

    fn within(within: &Path, what: &str) -> io::Result<Self> {
        for _ in 0..MAX_TRIES {
            let folder = tempfile::Builder::new()
                .prefix(&format!("{PREFIX}{what}-"))
                .permissions(private::folder_permissions())
                .tempdir_in(within)?;
            let path = folder.path().join(LOCK);
            let lock = private::make_new_file(&path)?;
            // Between making the file and locking it, another process may have taken it for a dead one's.
            if lock.try_lock().is_ok() && path.exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other("no folder of our own could be locked"))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        in_use().remove(self.path());
    }
}

/// Removes all folders of this process, also those in use: it is about to end.
pub fn clear() {
    std::mem::take(&mut *in_use()).iter().for_each(|folder| remove(folder));
}

fn in_use() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static IN_USE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what dead processes of this user left.
fn sweep(within: &Path) {
    let Ok(entries) = fs::read_dir(within) else { return };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for path in ours.take(MAX_SWEPT).map(|entry| entry.path()) {
        if let Some(_lock) = abandoned_lock(&path) {
            remove(&path);
        }
    }
}

/// The lock of a folder whose process is gone. None where it may be there, or where the folder is not one of ours.
fn abandoned_lock(folder: &Path) -> Option<File> {
    let user = rustix::process::getuid().as_raw();
    let (outside, lock) = (fs::symlink_metadata(folder).ok()?, folder.join(LOCK));
    let inside = fs::symlink_metadata(&lock).ok()?;
    let is_ours = outside.is_dir() && outside.uid() == user && inside.is_file() && inside.uid() == user;
    let file = is_ours.then(|| File::open(&lock).ok())??;
    file.try_lock().is_ok().then_some(file)
}

/// Removes a folder, its lock last: what is left after a failure must still be known as ours.
fn remove(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name() != LOCK) {
        let removed = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            Ok(_) => fs::remove_file(entry.path()),
            Err(error) => Err(error),
        };
        if removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            return;
        }
    }
    let _ = fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_gone_with_its_owner() {
        let scratch = Scratch::new("test").unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "x").unwrap();
        assert!(path.file_name().unwrap().to_string_lossy().starts_with("countersign-test-"));
        assert!(in_use().contains(&path));
        drop(scratch);
        assert!(!path.exists() && !in_use().contains(&path));
    }

    #[test]
    fn only_what_the_dead_left_is_swept() {
        let within = tempfile::tempdir().unwrap();
        let living = Scratch::within(within.path(), "change").unwrap();
        let make = |name: &str, files: &[&str]| {
            for file in files {
                let path = within.path().join(name).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "x").unwrap();
            }
        };
        make("countersign-dead", &[LOCK, "index", "objects/aa/1"]);
        make("countersign-without-lock", &["prompt.md"]);
        make("other-dead", &[LOCK]);
        // The target of a link is not ours to remove.
        make("target", &[LOCK]);
        std::os::unix::fs::symlink(within.path().join("target"), within.path().join("countersign-link"))
            .unwrap();
        sweep(within.path());
        let own = living.path().file_name().unwrap().to_string_lossy().into_owned();
        let others = ["countersign-link", "countersign-without-lock", "other-dead", "target"];
        let mut left: Vec<String> = others.into_iter().map(str::to_owned).chain([own]).collect();
        left.sort();
        assert_eq!(names(within.path()), left);
        assert!(within.path().join("target").join(LOCK).exists());
    }
}
