//! The service door: tasks whose work is reviewed when it is done.
//!
//! A task comes from `PLAN.md` or from any orchestrator by command. When it is done, what changed is reviewed with what
//! stands around it, and the result moves the task: complete, back for revision, or blocked.

pub mod active;
pub mod command;
pub mod context;
pub mod decided;
pub mod error;
pub mod event;
pub mod hook;
mod lock;
pub mod pipeline;
pub mod plan;
pub mod task;
pub mod tasks;

/// The first part of its subjects.
pub const DOOR: &str = "service";
