//! The run door: a list of tasks, each done by an agent, judged, and merged only when it passed.

pub mod layout;
pub mod state;
pub mod status;
pub mod tasks;
