//! The rules of Countersign as pure functions: no clock, files, environment or processes. Time, random ids, bytes and
//! replies are arguments, so every rule can be tested as a table and stays the same for ever.

pub mod accepting;
pub mod answer;
pub mod check;
pub mod cost;
pub mod criterion;
pub mod digest;
pub mod endpoint;
pub mod ids;
pub mod judge;
pub mod markdown;
pub mod media;
pub mod named_files;
pub mod notify;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod prompt;
pub mod redact;
pub mod review;
pub mod rule;
pub mod strict_json;
pub mod submission;
pub mod text;

/// Whether serde may leave a field out because it has its default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
