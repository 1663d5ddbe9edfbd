//! What can go wrong with tasks and their reviews.

use super::plan::EditError;
use countersign_engine::engine::EngineError;
use countersign_engine::ledger::LedgerError;
use countersign_engine::workspace::ChangeError;
use countersign_engine::yaml::{Problems, quoted};
use std::io;

/// Why something about a task was not done.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The plan cannot be read, or something is wrong with it.
    #[error("{0}")]
    Plan(Problems),
    /// The plan has changed meanwhile.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// What was typed cannot be.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// There is no such task.
    #[error("there is no task {typed}")]
    NoTask {
        /// What was typed, to be shown.
        typed: String,
    },
    /// Another task has this id.
    #[error("there is a task `{id}` already, called {title}")]
    Taken {
        /// The id.
        id: String,
        /// The title of the one that has it, to be shown.
        title: String,
    },
    /// A person has to look at it first.
    #[error("task {id} is blocked: {why}")]
    Blocked {
        /// The task.
        id: String,
        /// Why.
        why: String,
        /// The review that stopped.
        review: String,
    },
    /// The disk refused.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it did not work.
        error: io::Error,
    },
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<LedgerError> for ServiceError {
    fn from(error: LedgerError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<ChangeError> for ServiceError {
    fn from(error: ChangeError) -> Self {
        Self::Engine(error.into())
    }
}

impl ServiceError {
    /// Something the disk refused.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| match error.kind() {
            io::ErrorKind::Interrupted => Self::Engine(EngineError::Interrupted),
            _ => Self::Io { what, error },
        }
    }

    /// There is no such task.
    pub fn no_task(typed: &str) -> Self {
        Self::NoTask { typed: quoted(typed) }
    }

    /// Something typed wrong.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }
}
