//! Configuration: `countersign.yml` to typed values, once, at the edge.

mod at;
mod decode;
mod diagnostic;
mod fault;
mod measure;
mod source;
mod tree;
mod whole;

pub use diagnostic::{Diagnostic, MAX_PROBLEMS, Problems, Related};
pub use source::{FileBytes, MAX_FILE_BYTES, Place, Source};
