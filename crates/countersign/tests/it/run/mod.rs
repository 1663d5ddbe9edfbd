//! Runs of tasks, at the door.

mod decisions;
mod defects;
mod files;
mod gate;
mod integration;
pub mod kit;
mod parallel;
mod prompts;
mod ready;
mod reviews;
mod safety;
mod states;
mod tasks;
