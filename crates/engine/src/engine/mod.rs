//! The engine: does what is due.
//! `submit` hands work in, `wait` performs what the core says is due until the round has ended. A process may die at
//! any point between the two: whichever process submits the same bytes again goes on from there.

mod abandoned;
mod ask;
mod budget;
mod consult;
mod dispute;
mod drive;
mod hold;
mod keeping;
mod panel;
mod place;
mod planner;
mod reading;
mod redact;
mod self_review;
mod slots;
mod submitted_change;
mod two_call;
mod verbs;

use crate::fresh::NoRandom;
use crate::ledger::{Holder, Ledger, LedgerError};
use crate::process::GuardProgram;
use crate::workspace::{ChangeError, PathProblem};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::plan::PlanError;
use countersign_core::progress::ProgressEvent;
use countersign_core::review::Refused;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::broadcast;
use tracing::{debug, info, warn};

pub use crate::surroundings::{Commands, GateSurroundings, Surroundings};
pub use abandoned::withdraw_abandoned;
pub use consult::{Consultation, Consulted};
pub use dispute::{DISPUTES, DisputedFinding, findings_named};
pub use keeping::{FileNow, JudgedFiles, JudgedText, NotShown};
pub use panel::{Judge, Panel, Panelist};
pub use planner::{Bounds, Planner, Prepared, Preview, Request};
pub(crate) use redact::shown as hide_secrets;
pub(crate) use self_review::section;
pub use self_review::{SelfReviewResults, self_review_file};
pub use submitted_change::SubmittedChange;
pub use two_call::{PARSE_REVIEW, TwoCall};
pub use verbs::Ticket;

/// Does what is due, for one project.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    planner: Planner,
    ledger: Ledger,
    holder: Arc<Holder>,
    guard: GuardProgram,
    events: Arc<Happenings>,
    /// Reviews this process is performing now.
    driving: Arc<Mutex<HashSet<ReviewId>>>,
    /// Whether it was said that judged contents are not kept.
    said_not_kept: Arc<AtomicBool>,
}

impl Engine {
    pub fn new(planner: Planner, ledger: Ledger, guard: GuardProgram) -> Result<Self> {
        let holder = Arc::new(ledger.holder()?);
        let events = Arc::new(Happenings::new());
        let (driving, said_not_kept) = Default::default();
        Ok(Self(Arc::new(Inner { planner, ledger, holder, guard, events, driving, said_not_kept })))
    }

    /// The same engine with a new planner, for a process that outlives its configuration. Rounds under way go on as
    /// planned, and their questions keep their slots.
    pub fn replanned(&self, mut planner: Planner) -> Self {
        planner.panel.keep_slots(&self.0.planner.panel);
        Self(Arc::new(Inner { planner, ..Inner::clone(&self.0) }))
    }

    /// Makes plans without asking a reviewer.
    pub fn planner(&self) -> &Planner {
        &self.0.planner
    }

    pub fn watch(&self) -> broadcast::Receiver<ProgressEvent> {
        self.0.events.readers.subscribe()
    }

    /// Calls a listener for everything that happens from now on, in this engine and in those made from it.
    pub fn listen(&self, listener: Listener) {
        self.0.events.listeners.write().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    pub fn say(&self, happening: ProgressEvent) {
        self.0.events.say(happening);
    }
}

/// How far a slow reader may be behind before it misses some.
const KEPT: usize = 4096;

pub type Listener = Box<dyn Fn(&ProgressEvent) + Send + Sync>;

struct Happenings {
    readers: broadcast::Sender<ProgressEvent>,
    listeners: RwLock<Vec<Listener>>,
}

impl Happenings {
    fn new() -> Self {
        Self { readers: broadcast::channel(KEPT).0, listeners: RwLock::default() }
    }

    fn say(&self, happening: ProgressEvent) {
        log(&happening);
        let listeners = self.listeners.read().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener(&happening));
        // A stream without readers is fine.
        let _ = self.readers.send(happening);
    }
}

/// Logs names and counts, never texts of people or reviewers.
fn log(happening: &ProgressEvent) {
    use ProgressEvent as H;
    match happening {
        H::Round { review, round, assignments, answered } => {
            info!(%review, round, assignments, answered, "round begins");
        }
        H::Waiting { review } => debug!(%review, "waiting for the process that judges it"),
        H::Asked { review, assignment, label, reviewer, again } => {
            info!(%review, assignment, label, reviewer, again, "asked");
        }
        H::Answered { review, assignment, failed } => info!(%review, assignment, failed, "answered"),
        H::AskFailed { review, assignment, why, .. } => {
            info!(%review, assignment, why = why.name(), "no answer");
        }
        H::Began { task, attempt, of, .. } => info!(task, attempt, of, "task begins"),
        H::Stage { task, stage } => info!(task, stage = stage.name(), "stage"),
        H::Judged { task, verdict, issues } => info!(task, verdict, issues = issues.len(), "judged"),
        H::Awaits { task, review } => info!(task, %review, "waits for a person"),
        H::Failed { task, again, .. } => info!(task, again, "attempt failed"),
        H::Done { task, commit, .. } => info!(task, commit, "task done"),
        H::Warning(_) => warn!("a warning was shown"),
    }
}

type Result<T, E = EngineError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Path(#[from] PathProblem),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A self-review that was handed in is not complete.
    #[error("the results cannot be used: {0}")]
    Results(String),
    #[error("there is no review `{0}`")]
    NotFound(String),
    /// Another process performs the review, and does not go on.
    #[error("{0}")]
    HeldUp(String),
    #[error("interrupted; finished rulings are kept")]
    Interrupted,
    /// A file or folder of ours could not be read or written.
    #[error("{what}: {error}")]
    Io { what: String, error: std::io::Error },
    #[error("{0}")]
    Internal(String),
}

impl From<NoRandom> for EngineError {
    fn from(error: NoRandom) -> Self {
        Self::Internal(error.to_string())
    }
}

impl EngineError {
    /// An I/O error with what was being done.
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Path(_) | Self::Plan(_) | Self::Results(_) | Self::NotFound(_) => Outcome::Usage,
            Self::Change(error) => error.outcome(),
            Self::Ledger(error) => error.outcome(),
            Self::Refused(refused) => match refused {
                // A refused action did not happen, even if the review passed.
                Refused::Settled(outcome) if outcome.exit_code() == 0 => Outcome::Usage,
                Refused::Settled(outcome) => *outcome,
                Refused::CoolingOff { .. } => Outcome::NoVerdict(NoVerdict::Unavailable),
                Refused::Stale => Outcome::NoVerdict(NoVerdict::Stale),
                _ => Outcome::Usage,
            },
            Self::HeldUp { .. } => Outcome::NoVerdict(NoVerdict::Unavailable),
            Self::Interrupted => Outcome::Interrupted,
            Self::Io { .. } | Self::Internal(_) => Outcome::Internal,
        }
    }
}
