//! One file of a change.

use countersign_core::digest::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Added,
    /// It is gone.
    Deleted,
    /// Its contents are others.
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
    /// Nothing any more.
    Nothing,
}

/// One file of a change.
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
    /// Whether it has contents that are no text, and so are named only.
    pub is_binary: bool,
    /// How many bytes the whole patch has.
    pub patch_bytes: u64,
    /// Covers names, modes and all bytes of the patch, shown or not.
    pub digest: Digest,
    pub added: u64,
    pub removed: u64,
}
