//! The jobs door: agents work through a job step by step, and each step is judged before the next begins.

pub mod answer;
mod call;
mod door;
mod feedback;
mod guidance;
mod hand_in;
mod instructions;
mod job;
pub mod library;
pub mod overview;
mod session;

pub use call::{FinishedCall, StartCall};
pub use door::{Answered, Jobs, Judged, Memory, Options, Refusal, Waiting, policy};
pub use guidance::warnings as guidance_warnings;

/// The first part of the subjects of this door.
pub const DOOR: &str = "jobs";
