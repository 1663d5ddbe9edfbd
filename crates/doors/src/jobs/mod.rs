//! The jobs door: agents work through a job step by step, and every step is judged before the next begins.

pub mod answer;
mod call;
mod door;
mod folder;
mod hand_in;
mod instructions;
pub mod job;
pub mod library;
pub mod overview;
pub mod session;
mod words;

pub use call::{FinishedCall, StartCall};
pub use door::{Answered, Jobs, Judged, Memory, Options, Refusal, Waiting, policy};

/// The first part of its subjects.
pub const DOOR: &str = "jobs";
