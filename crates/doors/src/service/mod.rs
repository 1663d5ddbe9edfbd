//! The service door: tasks of `PLAN.md` or of any orchestrator, whose work is reviewed when it is done. `tasks` reads
//! and writes tasks, `pipeline` reviews the work on one and sets its status, `hook` has the hooks of agent programs.

pub mod active;
pub mod command;
pub mod context;
pub mod decided;
pub mod error;
pub mod event;
pub mod hook;
pub mod known;
mod lock;
pub mod pipeline;
pub mod plan;
pub mod task;
pub mod tasks;

/// The first part of its subjects.
pub const DOOR: &str = "service";
