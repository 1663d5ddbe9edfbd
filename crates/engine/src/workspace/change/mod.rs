//! Everything that differs since a base: committed, staged, unstaged and untracked.
//! There is one way, whatever state the repository is in: a copy of the user's index, brought up to date with
//! the files, against the base. Index, objects and files of the user stay as they are: the copy and the objects
//! it needs are in a folder that is gone afterwards.

mod file;
mod gate_files;
mod gather;
mod parse;
mod summary;

pub use file::{ChangedFile, FileKind, Shape};
pub use gather::{ChangeError, ChangeWanted, change, fingerprint};
pub use summary::summary;

use countersign_core::digest::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeLimits {
    /// The most that is kept of one file's patch; the rest is counted and hashed.
    pub patch_bytes_max: usize,
    /// The most that is kept of all patches together.
    pub kept_bytes_max: usize,
    pub files_max: usize,
    /// The most git may say.
    pub diff_bytes_max: u64,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self {
            patch_bytes_max: countersign_core::prompt::DIFF_BYTES_MAX,
            kept_bytes_max: 64 * 1024 * 1024,
            files_max: 20_000,
            diff_bytes_max: 4 * 1024 * 1024 * 1024,
        }
    }
}

/// Everything that differs since a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The commit it is against; none where there is no commit yet.
    pub base: Option<String>,
    /// Names exactly this state of the files against this base.
    pub fingerprint: Digest,
    /// What differs, in the order of paths. Never empty.
    pub files: Vec<ChangedFile>,
    /// The files as they are, as a tree of the repository, where that was wanted.
    pub tree: Option<String>,
}
