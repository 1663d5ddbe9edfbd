//! Configuration: `countersign.yml` to typed values, once, at the edge.

mod diagnostic;
mod source;

pub use diagnostic::{Diagnostic, MAX_PROBLEMS, Problems, Related};
pub use source::{FileBytes, MAX_FILE_BYTES, Place, Source};
