//! The workspace: from paths to exact bytes.
//! Paths stay inside the project root. Every file is named by the digest of all its bytes; contents are read
//! only when a question needs them, and only if they still have that digest. So memory is bounded by the
//! prompt, not by the project, and what was hashed is what is sent.

mod change;
mod gather;
mod held;
mod path;
mod read;
#[cfg(target_os = "linux")]
mod watch;
mod write;

pub use change::{
    BASELINE, Change, ChangeError, ChangeLimits, ChangeWanted, ChangedFile, FileKind, Shape, change,
    fingerprint, is_gate_file, listed, summary,
};
pub use gather::gather;
pub use held::{GuardedFile, HeldFiles};
pub use path::{FolderFiles, PathProblem, Root, require_file, walk};
pub use read::{Changed, Copied, copy_into, read_body, read_body_now, read_notes};
#[cfg(target_os = "linux")]
pub(crate) use watch::Watch;
pub use write::{UNFINISHED, remove_unfinished, write_atomically};
