//! The run door: a list of tasks, each done by an agent, judged, and merged only when it passed.

mod again;
pub mod attempt;
pub mod branch;
mod budget;
pub mod config;
pub mod course;
mod heard;
pub mod history;
pub mod homecoming;
pub mod human;
pub mod judging;
pub mod layout;
pub mod lock;
pub mod log;
pub mod markers;
pub mod merging;
pub mod prompt_files;
pub mod reconcile;
pub mod repo;
#[expect(
    clippy::module_inception,
    reason = "the door is named after its dialect, the module after what it holds"
)]
pub mod run;
pub mod schedule;
pub mod settings;
pub mod state;
pub mod status;
pub mod taking_up;
pub mod task;
pub mod task_file;
pub mod task_prompt;
pub mod tasks;
pub mod tasks_file;
mod traces;

/// The first part of its subjects.
pub const DOOR: &str = "run";
