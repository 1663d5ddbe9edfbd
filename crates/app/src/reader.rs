//! Who reads an answer: people get the commands to decide, agents learn that a person has to.

use crate::author;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Person,
    Agent,
}

impl Reader {
    pub fn of_command() -> Self {
        if author::is_agent() { Self::Agent } else { Self::Person }
    }

    /// The next step about a review that waits for a person. An agent gets no command that is for people.
    pub fn person_decides(self, id: &str, commands: impl FnOnce() -> String) -> String {
        match self {
            Self::Person => commands(),
            Self::Agent => format!("review {id} waits for a person"),
        }
    }
}
