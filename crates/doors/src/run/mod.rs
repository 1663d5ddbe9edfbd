//! The run door: a list of tasks, each done by an agent, judged, and merged only when it passed.

pub mod course;
pub mod happening;
pub mod human;
pub mod layout;
pub mod log;
pub mod markers;
pub mod repo;
pub mod settings;
pub mod state;
pub mod status;
pub mod step;
pub mod task_file;
pub mod task_prompt;
pub mod tasks;
