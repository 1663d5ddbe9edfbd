//! The law of Countersign, and nothing else.
//!
//! Everything here is a plain function from values to values: no clock, no files, no environment, no
//! processes. What comes from outside (time, random ids, bytes, replies) is an argument, so every rule can be
//! tested as a table and gives the same answer for ever.

pub mod answer;
pub mod check;
pub mod cost;
pub mod criterion;
pub mod digest;
pub mod happening;
pub mod ids;
pub mod judge;
pub mod markdown;
pub mod notify;
pub mod outcome;
pub mod place;
pub mod plan;
pub mod policy;
pub mod prompt;
pub mod redact;
pub mod review;
pub mod rule;
pub mod strict_json;
pub mod submission;
pub mod text;
