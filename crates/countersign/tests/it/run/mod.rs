//! Runs of tasks, at the door.

mod files;
mod gate;
