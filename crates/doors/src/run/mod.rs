//! The run door: a list of tasks, each done by an agent, judged, and merged only when it passed.

pub mod happening;
pub mod human;
pub mod markers;
pub mod repo;
pub mod step;
pub mod task_prompt;
pub mod tasks;
