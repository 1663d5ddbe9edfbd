//! A run: its parts, its errors, and the people it asks. The order of its tasks is in `schedule`.

use super::believed::Believed;
use super::checkpoint::Checkpoint;
use super::human::GateSummary;
use super::judging::ReviewConfigSource;
use super::layout::Layout;
use super::repo::{Repo, RepoError};
use super::settings::Settings;
use super::state::{State, StateError};
use super::task_file::{TaskFile, TaskFileError};
use countersign_core::outcome::Outcome;
use countersign_core::progress::ProgressEvent;
use countersign_engine::engine::{Engine, EngineError};
use countersign_engine::ledger::Stored;
use countersign_engine::process::GuardProgram;
use countersign_engine::worker::Worker;
use countersign_engine::workspace::ChangeError;
use countersign_engine::yaml::{Diagnostic, Problems};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub struct RunParts {
    pub engine: Engine,
    pub guard: GuardProgram,
    pub layout: Layout,
    pub repo: Repo,
    pub worker: Worker,
    pub settings: Settings,
    pub judges: Arc<dyn ReviewConfigSource>,
    pub people: Arc<dyn HumanGate>,
    /// Stops the run after the current step.
    pub stop: CancellationToken,
    /// The time, local and without a zone.
    pub now: fn() -> String,
}

pub struct Run {
    parts: RunParts,
    pub(super) state: State,
    pub(super) tasks: TaskFile,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) believed: tokio::sync::Mutex<Believed>,
    pub(super) merging: tokio::sync::Mutex<()>,
    pub(super) spent_microusd: AtomicU64,
    /// Set once everything was there that an agent's work needs.
    pub(super) is_ready: OnceCell<()>,
    /// Never cancelled: the current step goes on when the run stops.
    pub(super) never: CancellationToken,
}

impl std::ops::Deref for Run {
    type Target = RunParts;

    fn deref(&self) -> &RunParts {
        &self.parts
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    Decided(T),
    /// No person is at the terminal.
    NotPresent,
    /// They stop the run.
    Interrupted,
}

#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub shown: &'a GateSummary,
    pub diff: &'a str,
    pub files: &'a [PathBuf],
    pub engine: &'a Engine,
    pub stored: &'a Stored,
}

pub type PersonError = Box<dyn std::error::Error + Send + Sync>;

pub type Asked<'a> =
    Pin<Box<dyn Future<Output = Result<PersonAnswer<Box<Stored>>, PersonError>> + Send + 'a>>;

pub trait HumanGate: Send + Sync {
    fn ask<'a>(&'a self, question: Question<'a>) -> Asked<'a>;

    fn go_on<'a>(&'a self, task: &'a str, error: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// Why a run ends with an error. A failed task is not one.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Tasks(#[from] TaskFileError),
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error("{0}")]
    Configuration(String),
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error(transparent)]
    Person(PersonError),
    #[error("there are uncommitted changes: {}", listed(.0))]
    Dirty(Vec<String>),
    #[error("there is no task `{0}`")]
    NoTask(String),
    /// Something is missing without which no task can be done.
    #[error("{0}")]
    NotReady(String, Outcome),
}

impl RunError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io(what, error)
    }

    pub(super) fn template(problem: Diagnostic) -> Self {
        Self::Configuration(Problems::from(problem).to_string())
    }

    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Engine(error) => error.outcome(),
            Self::Change(error) => error.outcome(),
            Self::NotReady(_, outcome) => *outcome,
            Self::State(_) | Self::Io(..) | Self::Person(_) => Outcome::Internal,
            Self::Tasks(_) | Self::Repo(_) | Self::Configuration(_) | Self::Dirty(_) | Self::NoTask(_) => {
                Outcome::Usage
            }
        }
    }
}

pub(super) fn listed(files: &[String]) -> String {
    const LISTED: usize = 5;
    let shown: Vec<_> = files.iter().take(LISTED).map(String::as_str).collect();
    match files.len() {
        n if n > LISTED => format!("{} and {} more", shown.join(", "), n - LISTED),
        _ => shown.join(", "),
    }
}

impl Run {
    pub async fn open(parts: RunParts) -> Result<Self, RunError> {
        let state = State::open(&parts.layout).await?;
        Ok(Self::with(parts, state))
    }

    /// A run that only says what it would do: it makes and changes no file.
    pub async fn open_to_look(parts: RunParts) -> Result<Self, RunError> {
        let state = State::open_to_look(&parts.layout).await?;
        Ok(Self::with(parts, state))
    }

    fn with(parts: RunParts, state: State) -> Self {
        Self {
            state,
            tasks: TaskFile::new(&parts.layout),
            environment: std::env::vars_os().collect(),
            believed: tokio::sync::Mutex::default(),
            merging: tokio::sync::Mutex::new(()),
            spent_microusd: AtomicU64::new(0),
            is_ready: OnceCell::new(),
            never: CancellationToken::new(),
            parts,
        }
    }

    pub(super) fn say(&self, happening: ProgressEvent) {
        self.engine.say(happening);
    }

    pub(super) async fn save(&self, task: &str, checkpoint: &Checkpoint) -> Result<(), RunError> {
        Ok(checkpoint.keep(&self.state, task).await?)
    }
}
