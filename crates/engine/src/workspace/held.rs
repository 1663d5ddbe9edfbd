//! Whether files stayed the same while another program read them by their paths.
//! Looking before and after is not enough: a file can be another one in between. So each file is compared by its folder
//! entry, size, times and digest, and on Linux its path is watched meanwhile.

use super::path::{self, Root};
use super::read::Changed;
#[cfg(target_os = "linux")]
use super::watch::Watch;
use countersign_core::digest::Digest;
use countersign_core::submission::Material;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A file that must stay as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedFile {
    /// Relative to the root.
    pub path: String,
    /// The digest of its bytes; none where there are none, or where they are no matter of this file.
    pub digest: Option<Digest>,
}

impl GuardedFile {
    /// The file of a material. What was handed in as a text stands for a file whose bytes have another digest.
    pub fn of(material: &Material) -> Self {
        let digest = material.form.is_file() && material.content.has_bytes();
        Self { path: material.path.clone(), digest: digest.then(|| material.digest.clone()) }
    }
}

/// Files that another program reads.
pub struct HeldFiles {
    root: Root,
    files: Vec<(GuardedFile, Option<Stamp>)>,
    #[cfg(target_os = "linux")]
    watch: Watch,
}

/// What a file is, beside its bytes. No program can set the time of the last change (ctime).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    place: PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl HeldFiles {
    /// Begins to hold files, if they are what they should be. Reads all of them: not for the async runtime.
    pub fn begin(root: &Root, files: Vec<GuardedFile>) -> io::Result<Result<Self, Changed>> {
        // A text that was given has no file that could be exchanged.
        let files: Vec<GuardedFile> = files.into_iter().filter(|file| !root.is_given(&file.path)).collect();
        // The watch comes first: what changes after a look must be seen.
        #[cfg(target_os = "linux")]
        let watch = {
            let places: Vec<PathBuf> = files.iter().map(|file| root.join(&file.path)).collect();
            Watch::begin(root.path(), places.iter().map(PathBuf::as_path))?
        };
        let stamps: Vec<_> = files.iter().map(|file| stamp(root, &file.path)).collect();
        let files: Vec<_> = files.into_iter().zip(stamps).collect();
        if let Some((file, _)) = files.iter().find(|(file, _)| !has_digest(root, file)) {
            return Ok(Err(Changed { path: file.path.clone() }));
        }
        Ok(Ok(Self {
            root: root.clone(),
            files,
            #[cfg(target_os = "linux")]
            watch,
        }))
    }

    /// Looks again. Reads all of them: not for the async runtime.
    pub fn end(self) -> Result<(), Changed> {
        let is_same = |(file, before): &&(GuardedFile, Option<Stamp>)| {
            has_digest(&self.root, file) && stamp(&self.root, &file.path) == *before
        };
        if let Some((file, _)) = self.files.iter().find(|file| !is_same(file)) {
            return Err(Changed { path: file.path.clone() });
        }
        #[cfg(target_os = "linux")]
        if let Some(path) = self.watch.changed() {
            return Err(Changed { path });
        }
        Ok(())
    }
}

fn stamp(root: &Root, path: &str) -> Option<Stamp> {
    let place = root.join(path).canonicalize().ok()?;
    let found = place.symlink_metadata().ok()?;
    Some(Stamp {
        place,
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        written: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}

fn has_digest(root: &Root, file: &GuardedFile) -> bool {
    let Some(wanted) = &file.digest else { return true };
    let digest = || -> io::Result<Digest> {
        let (bytes, _) = path::open(root, &file.path)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(bytes)?;
        Ok(Digest::from_hash(hasher.finalize()))
    };
    digest().is_ok_and(|found| found == *wanted)
}

// Elsewhere nothing watches the way to a file.
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
