//! The run door: the tasks of `tasks.md`, each done by an agent, judged, and merged only after it passed. `schedule`
//! orders tasks, `task` makes attempts, `attempt` runs the stages, `judging` reviews, `merging` merges, and a
//! `checkpoint` is what a task keeps between runs.

mod advance_main;
mod agent_reply;
mod attempt;
mod believed;
mod budget;
pub mod checkpoint;
mod checks;
pub mod config;
pub mod human;
mod integration;
pub mod judging;
pub mod layout;
pub mod lock;
pub mod log;
mod merge_main;
mod merging;
mod prompt_files;
mod ready;
mod reconcile;
pub mod record;
pub mod repo;
mod retry;
#[expect(
    clippy::module_inception,
    reason = "the door is named after its dialect, the module after what it holds"
)]
pub mod run;
pub mod schedule;
pub mod settings;
pub mod state;
pub mod status;
pub mod task;
pub mod task_file;
mod task_prompt;
pub mod tasks;
mod traces;

/// The first part of its subjects.
pub const DOOR: &str = "run";
