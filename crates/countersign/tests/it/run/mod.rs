//! Runs of tasks, at the door.

mod decisions;
mod defects;
mod files;
mod gate;
pub mod kit;
mod parallel;
mod prompts;
mod reviews;
mod safety;
mod states;
mod tasks;
