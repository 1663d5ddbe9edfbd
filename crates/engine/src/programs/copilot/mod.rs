//! The `copilot` program: its agents are known by their marks. It is not asked and not put to work.

use super::{Mark, Program};

pub static PROGRAM: Program =
    Program::marks_only("copilot", &[Mark::new("COPILOT_CLI"), Mark::new("COPILOT_AGENT_SESSION_ID")]);
