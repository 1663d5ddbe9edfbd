//! The hooks of agent programs, as data: called when an agent is about to stop, and able to hold it.

use super::{Dialect, Facts};
use std::fmt;

/// A review may take long; a program that ends the hook lets its agent go.
pub const HOOK_SECONDS: u64 = 3600;

/// How a program calls us when its agent stops, and what it understands.
#[derive(Clone, Copy)]
pub struct Hook {
    /// The program that calls.
    pub program: &'static Facts,
    /// What people call the event, for help.
    pub title: &'static str,
    /// The event, as the program calls it.
    pub event: &'static str,
    /// The variable in which the program names its project, wherever the agent has gone meanwhile.
    pub project_variable: Option<&'static str>,
    /// Whether the program forgets that its agent was held. A session then ends with each prompt, which stays the same.
    pub forgets_held: bool,
    /// The decision that holds an agent.
    pub hold: &'static str,
    /// The file of a project in which the hook is named, from its root.
    pub file: &'static str,
    /// What that file allows beside JSON.
    pub dialect: Dialect,
    /// The list of hooks in it.
    pub path: [&'static str; 2],
    /// An hour, in what the program counts: seconds or milliseconds.
    pub timeout: u64,
    /// What a person does next.
    pub next: &'static str,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.event, self.program.name)
    }
}
