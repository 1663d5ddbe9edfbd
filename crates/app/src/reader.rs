//! Who reads an answer: people are told commands, agents that a person is waited for.

use crate::author;

/// Who reads an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person, who is told the commands that are for people.
    Person,
    /// An agent, which is told that a person is waited for.
    Agent,
}

impl Reader {
    /// Who reads what a command prints.
    pub fn of_command() -> Self {
        if author::is_agent() { Self::Agent } else { Self::Person }
    }

    /// What a person does next about a review. An agent is told no command that is for people.
    pub fn person_decides(self, id: &str, commands: impl FnOnce() -> String) -> String {
        match self {
            Self::Person => commands(),
            Self::Agent => format!("review {id} waits for a person"),
        }
    }
}
