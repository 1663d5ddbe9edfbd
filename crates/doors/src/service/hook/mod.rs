//! The hooks of agent programs: called when an agent is about to stop, and able to hold it.
//!
//! Pure: what a program writes → what is meant; how a review stands → what the program is told. How often an agent is held
//! is counted by the law of reviews and by nobody here.

pub mod answer;
pub mod input;
pub mod words;

use countersign_core::ids::Subject;
use countersign_core::policy::Policy;
use countersign_engine::programs::Program;
use input::Stopping;

/// The hooks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// `Stop` of Claude Code.
    Claude,
    /// `Stop` of Codex.
    Codex,
    /// `AfterAgent` of Gemini CLI.
    Gemini,
}

/// The policy of reviews on sessions: an agent that was told what to fix and comes back with the same files will not fix
/// it.
pub fn of_sessions(policy: &mut Policy) {
    policy.unchanged_stops = true;
}

impl Hook {
    /// The program that calls it.
    pub fn program(self) -> Program {
        match self {
            Self::Claude => Program::Claude,
            Self::Codex => Program::Codex,
            Self::Gemini => Program::Gemini,
        }
    }

    /// The event, as the program calls it.
    pub fn event(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "Stop",
            Self::Gemini => "AfterAgent",
        }
    }

    /// The variable in which the program names its project, wherever the agent has gone meanwhile.
    pub fn project_variable(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("CLAUDE_PROJECT_DIR"),
            Self::Gemini => Some("GEMINI_PROJECT_DIR"),
            Self::Codex => None,
        }
    }

    /// What stays the same over all stops of a session; of a program that does not say whether its agent was held, over all
    /// stops after one prompt.
    pub fn subject(self, stopping: &Stopping) -> Subject {
        let parts = [self.program().facts().name, &stopping.session];
        Subject::new("hook", parts.into_iter().chain(stopping.prompt.as_deref()))
    }
}
