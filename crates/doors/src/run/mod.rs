//! The run door: a list of tasks, each done by an agent, judged, and merged only when it passed.

pub mod config;
pub mod history;
pub mod layout;
pub mod lock;
pub mod prompt_files;
pub mod state;
pub mod status;
pub mod tasks;
pub mod tasks_file;
