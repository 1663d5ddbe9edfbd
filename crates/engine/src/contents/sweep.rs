//! Removing: what is expired, what is oldest when room is needed, and everything where nothing is to be kept. Only files
//! with names of ours are removed, and no link is followed.

use super::{Contents, DAY, FILES_MAX, TOTAL_BYTES_MAX, UNFINISHED};
use crate::private;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Says by its time when it was last looked for expired files.
const SWEPT: &str = "swept";
const EVERY: Duration = Duration::from_secs(60 * 60);
/// How many files one command looks at; a folder of ours never has so many.
const LOOKED_AT_MAX: usize = 4 * FILES_MAX;

/// What is kept, the newest first.
pub(super) struct Listing {
    files: Vec<(SystemTime, u64, PathBuf)>,
    total_bytes: u64,
    /// How many are there, those that were added since included.
    count: usize,
}

impl Listing {
    /// Removes what is expired, and lists the rest.
    pub fn swept(contents: &Contents) -> io::Result<Self> {
        let folder = &contents.folder;
        let mut listing = Self { files: vec![], total_bytes: 0, count: 0 };
        for_each(folder, |entry, is_finished| {
            let metadata = entry.metadata()?;
            let at = metadata.modified()?;
            let is_left = !is_finished && contents.now.duration_since(at).is_ok_and(|age| age > DAY);
            if is_left || contents.is_expired(at) {
                return removed(&entry.path());
            }
            if is_finished {
                listing.total_bytes += metadata.len();
                listing.files.push((at, metadata.len(), entry.path()));
            }
            Ok(())
        })?;
        listing.count = listing.files.len();
        listing.files.sort_unstable_by_key(|(at, ..)| std::cmp::Reverse(*at));
        if is_folder(folder) {
            // Its time is all that is wanted. A link in its place is not followed.
            removed(&folder.join(SWEPT))?;
            match private::make_new_file(&folder.join(SWEPT)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => drop(made?),
            }
        }
        Ok(listing)
    }

    /// Removes the oldest until a file of this size has room; false where there are no older ones any more.
    pub fn make_room(&mut self, bytes: u64) -> bool {
        while self.total_bytes + bytes > TOTAL_BYTES_MAX || self.count >= FILES_MAX {
            let Some((_, size, path)) = self.files.pop() else { return false };
            if removed(&path).is_err() {
                return false;
            }
            self.total_bytes = self.total_bytes.saturating_sub(size);
            self.count = self.count.saturating_sub(1);
        }
        self.total_bytes += bytes;
        self.count += 1;
        true
    }
}

/// Whether expired files were not looked for lately.
pub(super) fn is_due(folder: &Path, now: SystemTime) -> bool {
    let swept = fs::symlink_metadata(folder.join(SWEPT)).and_then(|found| found.modified());
    match swept {
        Ok(at) => now.duration_since(at).unwrap_or_else(|ahead| ahead.duration()) > EVERY,
        Err(_) => is_folder(folder),
    }
}

/// Removes everything that is kept.
pub(super) fn remove_all(folder: &Path) -> io::Result<()> {
    if !is_folder(folder) {
        return Ok(());
    }
    for_each(folder, |entry, _| removed(&entry.path()))?;
    removed(&folder.join(SWEPT))?;
    for entry in fs::read_dir(folder)?.take(LOOKED_AT_MAX) {
        // What somebody else put there stays.
        let _ = fs::remove_dir(entry?.path());
    }
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Calls for every file of ours, with whether it was finished.
fn for_each(folder: &Path, mut each: impl FnMut(&DirEntry, bool) -> io::Result<()>) -> io::Result<()> {
    if !is_folder(folder) {
        return Ok(());
    }
    let is_hex = |name: &str, length: usize| {
        name.len() == length && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut left = LOOKED_AT_MAX;
    for inner in fs::read_dir(folder)? {
        let inner = inner?;
        let is_ours = inner.file_name().to_str().is_some_and(|name| is_hex(name, 2));
        if !is_ours || !inner.file_type()?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(inner.path())?.take(left) {
            let entry = entry?;
            left -= 1;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_finished = is_hex(name, 62);
            if (is_finished || name.starts_with(UNFINISHED)) && !entry.file_type()?.is_dir() {
                // Another process may have removed it meanwhile.
                match each(&entry, is_finished) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
        }
    }
    Ok(())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn removed(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
impl Listing {
    /// The same with this much in it.
    pub fn fill(&mut self, total_bytes: u64, count: usize) {
        (self.total_bytes, self.count) = (total_bytes, count);
    }
}
