//! The `copilot` program: its agents are known by their marks and files. It is not asked and not put to work.

use super::{Mark, Program};

pub static PROGRAM: Program = Program::known(
    "copilot",
    &[Mark::new("COPILOT_CLI"), Mark::new("COPILOT_AGENT_SESSION_ID")],
    &["@github/copilot"],
    &[".github/agents/", ".github/copilot/", ".github/hooks/", ".github/mcp.json", ".github/skills/"],
);
