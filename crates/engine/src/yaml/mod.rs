//! YAML that people write, read so that everything wrong with it can be said at once, each with its place.
//!
//! ```text
//! source ──► tree ──────────► decode ──► the caller's own types, of `At`, `Given` and `OrderedMap`,
//! text       YAML, bounded    serde      and a `ProblemList` for what the caller finds wrong with them
//! ```
//!
//! A file that is not YAML has one problem; otherwise reading goes on after each. Only `source` does I/O.

mod at;
mod decode;
mod diagnostic;
mod sink;
mod source;
mod tree;

pub use at::{At, Count, CountOrNone, Given, List, OrderedMap, Whole};
pub use diagnostic::{Diagnostic, MAX_PROBLEMS, Problems, Related, closest, did_you_mean, listed, quoted};
pub use sink::{Document, Named, ProblemList, read};
pub(crate) use source::reason;
pub use source::{
    FileBytes, MAX_FILE_BYTES, Place, Source, read_at_most, read_bounded, read_file, unreadable,
};
