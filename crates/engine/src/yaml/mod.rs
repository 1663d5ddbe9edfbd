//! YAML that people write, read so that everything wrong with it can be said at once, each with its place.
//!
//! ```text
//! file ──► source ──► measure, tree ──► decode ──► the caller's own types, of `At`, `Given` and `InOrder`,
//! bytes    text       YAML, bounded     serde      and a `Sink` for what the caller finds wrong with them
//! ```
//!
//! A file that is not YAML has one problem; otherwise reading goes on after each. Only `file` does I/O.

mod at;
mod decode;
mod diagnostic;
mod document;
mod fault;
mod file;
mod measure;
mod sink;
mod source;
mod tree;
mod whole;

pub use at::{At, Given, List, OrderedMap};
pub use diagnostic::{Diagnostic, MAX_PROBLEMS, Problems, Related, closest, did_you_mean, listed, quoted};
pub use document::{Document, read};
pub(crate) use file::reason;
pub use file::{read_at_most, read_bounded, read_file, unreadable};
pub use sink::{Named, ProblemList};
pub use source::{FileBytes, MAX_FILE_BYTES, Place, Source};
pub use whole::{Count, CountOrNone, Whole};
