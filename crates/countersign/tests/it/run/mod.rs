//! Runs of tasks, at the door.

mod decisions;
mod defects;
mod files;
mod gate;
mod kit;
mod prompts;
mod safety;
mod tasks;
