//! A run: everything it needs, and the order in which tasks are taken.

use super::course::Course;
use super::human::Shown;
use super::judging::Judges;
use super::layout::Layout;
use super::repo::{Repo, RepoError};
use super::settings::Settings;
use super::state::{State, StateError};
use super::task_file::{TaskFile, TaskFileError};
use countersign_core::happening::Happening;
use countersign_core::outcome::Outcome;
use countersign_engine::engine::{Engine, EngineError};
use countersign_engine::ledger::Stored;
use countersign_engine::process::GuardProgram;
use countersign_engine::worker::Worker;
use countersign_engine::workspace::ChangeError;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio_util::sync::CancellationToken;

/// What a run is made of.
pub struct RunParts {
    /// The engine of the project.
    pub engine: Engine,
    /// The guard of every program.
    pub guard: GuardProgram,
    /// Where the files are.
    pub layout: Layout,
    /// The repository.
    pub repo: Repo,
    /// Who works.
    pub worker: Worker,
    /// How.
    pub settings: Settings,
    /// Who judges.
    pub judges: Arc<dyn Judges>,
    /// Who decides.
    pub people: Arc<dyn People>,
    /// Stops the run after the step that is under way.
    pub stop: CancellationToken,
    /// The time, local and without a zone.
    pub now: fn() -> String,
}

/// A run: its parts, and what it keeps of its tasks.
pub struct Run {
    parts: RunParts,
    /// What became of each task.
    pub(super) state: State,
    /// The list of tasks.
    pub(super) tasks: TaskFile,
    /// The environment of whoever works.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Only one merges at a time.
    pub(super) merging: tokio::sync::Mutex<()>,
    /// What was spent in this run.
    pub(super) spent_microusd: AtomicU64,
    /// A step that is under way is not stopped.
    pub(super) never: CancellationToken,
}

impl std::ops::Deref for Run {
    type Target = RunParts;

    fn deref(&self) -> &RunParts {
        &self.parts
    }
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<T> {
    /// There is a decision.
    Decided(T),
    /// There is nobody to ask.
    Nobody,
    /// They want everything to stop.
    Interrupted,
}

/// What a person is asked about: a change that was judged and waits for a decision.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// What they see first.
    pub shown: &'a Shown,
    /// The change.
    pub diff: &'a str,
    /// The files that changed.
    pub files: &'a [PathBuf],
    /// The engine of the review.
    pub engine: &'a Engine,
    /// The review.
    pub stored: &'a Stored,
}

/// Why a person could not be asked, or the decision was not taken.
pub type PersonError = Box<dyn std::error::Error + Send + Sync>;

/// A person who is asked: the review as it stands once there is a decision.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Said<Box<Stored>>, PersonError>> + Send + 'a>>;

/// People at a terminal.
pub trait People: Send + Sync {
    /// Asks what becomes of a task, and has the decision recorded: the review as it stands then.
    fn ask<'a>(&'a self, question: Question<'a>) -> Asked<'a>;

    /// Asks whether to go on after a task failed for good.
    fn go_on<'a>(&'a self, task: &'a str, error: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// What breaks a run off. What a task does wrong does not.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine or its ledger.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The state of the run.
    #[error(transparent)]
    State(#[from] StateError),
    /// The list of tasks.
    #[error(transparent)]
    Tasks(#[from] TaskFileError),
    /// The repository.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The change could not be seen.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The configuration it is judged by.
    #[error("{0}")]
    Configuration(String),
    /// A file or a program.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// The person at the terminal.
    #[error(transparent)]
    Person(PersonError),
    /// Somebody's uncommitted work is in the way.
    #[error("there are changes that are not committed: {}", listed(.0))]
    Dirty(Vec<String>),
    /// There is no such task.
    #[error("there is no task `{0}`")]
    NoTask(String),
}

impl RunError {
    pub(super) fn folder(folder: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        Self::io(format!("the folder `{}` cannot be used", folder.display()))
    }

    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    /// The outcome a command ends with.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Engine(error) => error.outcome(),
            Self::Change(error) => error.outcome(),
            Self::State(_) | Self::Io { .. } | Self::Person(_) => Outcome::Internal,
            Self::Tasks(_) | Self::Repo(_) | Self::Configuration(_) | Self::Dirty(_) | Self::NoTask(_) => {
                Outcome::Usage
            }
        }
    }
}

fn listed(files: &[String]) -> String {
    const LISTED: usize = 5;
    let shown: Vec<_> = files.iter().take(LISTED).map(String::as_str).collect();
    match files.len() {
        n if n > LISTED => format!("{} and {} more", shown.join(", "), n - LISTED),
        _ => shown.join(", "),
    }
}

impl Run {
    /// A run of the tasks in the files of its parts.
    pub async fn open(parts: RunParts) -> Result<Self, RunError> {
        Ok(Self {
            state: State::open(&parts.layout).await?,
            tasks: TaskFile::new(&parts.layout),
            environment: std::env::vars_os().collect(),
            merging: tokio::sync::Mutex::new(()),
            spent_microusd: AtomicU64::new(0),
            never: CancellationToken::new(),
            parts,
        })
    }

    pub(super) fn say(&self, happening: Happening) {
        self.engine.say(happening);
    }

    /// Keeps how far a task is.
    pub(super) async fn keep(&self, task: &str, course: &Course) -> Result<(), RunError> {
        Ok(course.keep(&self.state, task).await?)
    }
}
