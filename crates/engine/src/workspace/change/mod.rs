//! Everything that differs since a base: committed, staged, unstaged and untracked.
//! There is one way, whatever state the repository is in: a copy of the user's index, brought up to date with
//! the files, against the base. Index, objects and files of the user stay as they are: the copy and the objects
//! it needs are in a folder that is gone afterwards.

mod gate_files;
mod gather;
mod parse;

use countersign_core::digest::Digest;
use countersign_core::submission::Content;
use countersign_core::text::{counted, neutralise_name};
use std::collections::BTreeMap;
use std::fmt::Write;

pub use gate_files::{BASELINE, is_gate_file};
pub use gather::{ChangeError, ChangeWanted, change, fingerprint, listed};

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
    /// Files that HEAD has otherwise than they are here and in the base.
    pub other_in_head: Vec<String>,
    /// The gate files that a person has seen as they are.
    pub seen: Vec<String>,
    /// What links in place of gate files lead to.
    pub linked: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Added,
    Deleted,
    Modified,
    /// It has another name, and perhaps other contents.
    Renamed,
    ModeChanged,
    /// It was a file and is a link, or the like.
    TypeChanged,
}

impl FileKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::ModeChanged => "mode changed",
            Self::TypeChanged => "type changed",
        }
    }
}

/// What stands at a path now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    File,
    Link,
    /// A submodule: a pointer to a commit of another repository.
    Submodule,
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the root, with `/`. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Whether the path is the name itself, rather than the name with bytes replaced.
    pub is_named_exactly: bool,
    /// What it was called before, where that is something else.
    pub old_path: Option<String>,
    pub kind: FileKind,
    pub shape: Shape,
    /// Its patch as shown; says itself where it is cut, not UTF-8 or binary.
    pub patch: String,
    /// Whether the patch lacks something a reader would have to see.
    pub is_cut: bool,
    /// Whether the patch has contents that are no text, and so are named only.
    pub is_binary: bool,
    /// What a reviewer sees of it: text, or why not. Nothing is hidden where a file was deleted.
    pub content: Content,
    /// The object of contents that may be UTF-16.
    pub(super) wide: Option<String>,
    pub patch_bytes: u64,
    /// Covers names, modes and all bytes of the patch, shown or not.
    pub digest: Digest,
    pub added: u64,
    pub removed: u64,
}

/// Lists the files with what became of them, in at most about `bytes_max` bytes. Where a line per file would be too long,
/// folders stand for what is below them.
pub fn summary(change: &Change, bytes_max: usize) -> String {
    let files = &change.files;
    let cut = files.iter().filter(|file| file.is_cut).count();
    let mut out = format!("{} changed, {}\n", counted(files.len(), "file", "files"), plus_minus(files));
    if cut > 0 {
        let _ =
            writeln!(out, "The diffs of {} are too long to be shown whole.", counted(cut, "file", "files"));
    }
    out.push_str("Their diffs are judged one by one; this is about the change as a whole.\n\n");
    let room = bytes_max.saturating_sub(out.len());
    let each: String = files.iter().map(|file| format!("{}\n", line(file))).collect();
    if each.len() <= room {
        return out + &each;
    }
    let deepest = files.iter().map(|file| file.path.matches('/').count()).max().unwrap_or(0);
    let by_folder = (0..=deepest).rev().map(|depth| folders(files, depth)).find(|list| list.len() <= room);
    out.push_str(&by_folder.unwrap_or_default());
    out
}

fn plus_minus<'a>(files: impl IntoIterator<Item = &'a ChangedFile>) -> String {
    let sum = |(added, removed), file: &ChangedFile| (added + file.added, removed + file.removed);
    let (added, removed) = files.into_iter().fold((0, 0), sum);
    format!("+{added} -{removed} lines")
}

fn line(file: &ChangedFile) -> String {
    let mut out = format!("- {}: {}", neutralise_name(&file.path).0, file.kind.word());
    if let Some(old) = &file.old_path {
        let _ = write!(out, " from {}", neutralise_name(old).0);
    }
    let what = if file.is_binary { "binary".to_owned() } else { plus_minus([file]) };
    let _ = write!(out, ", {what}");
    if file.is_cut {
        let _ = write!(out, ", diff of {} bytes cut", file.patch_bytes);
    }
    out
}

fn folders(files: &[ChangedFile], depth: usize) -> String {
    let mut groups: BTreeMap<String, Vec<&ChangedFile>> = BTreeMap::new();
    for file in files {
        let folder = match file.path.match_indices('/').take(depth).last() {
            Some((end, _)) => &file.path[..=end],
            None => "",
        };
        groups.entry(folder.to_owned()).or_default().push(file);
    }
    let mut out = String::new();
    for (folder, files) in groups {
        let name = if folder.is_empty() { "./".into() } else { neutralise_name(&folder).0 };
        let count = counted(files.len(), "file", "files");
        let _ = writeln!(out, "- {name}: {count}, {}", plus_minus(files));
    }
    out
}
