//! A job as it was read last, and the stamps of its files.

use super::FILE_NAME;
use crate::jobs::job::{self, Reading};
use countersign_engine::yaml::{Problems, read_file};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Clocks of file systems are coarse: a file may be written again, after it was read, with the same stamp.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

const NOT_READ: &str = "a job is a text file with this name, in its own folder";

#[derive(Debug)]
pub(super) struct Known {
    pub reading: Result<Reading, Problems>,
    files: BTreeMap<PathBuf, Option<Stamp>>,
    /// Whether a change of one of the files would show.
    settled: bool,
}

impl Known {
    /// The job in a folder: `known` if nothing changed. None if the folder has no job.
    pub fn renew(known: Option<Self>, dir: &Path) -> Option<Self> {
        match known {
            Some(known) if known.is_current() => Some(known),
            _ => Self::read(dir),
        }
    }

    fn is_current(&self) -> bool {
        self.settled && self.files.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }

    fn read(dir: &Path) -> Option<Self> {
        let path = dir.join(FILE_NAME);
        let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
        // A broken link is a mistake to report, and so is a file without permission.
        if fs::symlink_metadata(&path).is_err_and(|error| absent.contains(&error.kind())) {
            return None;
        }
        let now = SystemTime::now();
        // Stamped before it is read: a change in between shows at the next look.
        let files = RefCell::new(BTreeMap::from([(path.clone(), Stamp::of(&path))]));
        let text = |relative: &Path| {
            let path = dir.join(relative);
            let stamp = Stamp::of(&path);
            files.borrow_mut().entry(path).or_insert(stamp);
            super::text(dir, relative)
        };
        let reading = read_file(&path)
            .map_err(|problem| Problems::from(problem.with_hint(NOT_READ)))
            .and_then(|file| job::read(&file, &text));
        let files = files.into_inner();
        let settled = files.values().flatten().all(|stamp| stamp.settled(now));
        Some(Self { reading, files, settled })
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: Option<SystemTime>,
    /// The change time in seconds and nanoseconds; unlike `modified`, programs cannot set it.
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: metadata.modified().ok(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    fn settled(&self, now: SystemTime) -> bool {
        let Some(modified) = self.modified else { return false };
        let apart = now.duration_since(modified).unwrap_or_else(|error| error.duration());
        apart > COARSEST_CLOCK
    }
}
