//! The errors of tasks and their reviews.

use super::plan::EditError;
use countersign_engine::engine::EngineError;
use countersign_engine::ledger::LedgerError;
use countersign_engine::workspace::ChangeError;
use countersign_engine::yaml::{Problems, quoted};
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error("{0}")]
    Plan(Problems),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("{message}")]
    Usage { message: String, hint: String },
    #[error("there is no task {0}")]
    NoTask(String),
    #[error("task `{0}` already exists: {1}")]
    Taken(String, String),
    #[error("task {id} is blocked: {why}")]
    Blocked { id: String, why: String, review: String },
    #[error("{0}: {1}")]
    Io(String, io::Error),
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
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| match error.kind() {
            io::ErrorKind::Interrupted => Self::Engine(EngineError::Interrupted),
            _ => Self::Io(what, error),
        }
    }

    pub fn no_task(typed: &str) -> Self {
        Self::NoTask(quoted(typed))
    }

    pub(super) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }
}
