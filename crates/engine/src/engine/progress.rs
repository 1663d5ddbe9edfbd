//! The stream of events: every listener and reader gets all of them, in order, and the log gets a line of each.

use countersign_core::progress::ProgressEvent;
use std::sync::{PoisonError, RwLock};
use tokio::sync::broadcast;
use tracing::{debug, info, warn};

/// How far a slow reader may be behind before it misses some.
const KEPT: usize = 4096;

pub type Listener = Box<dyn Fn(&ProgressEvent) + Send + Sync>;

pub(super) struct Happenings {
    pub readers: broadcast::Sender<ProgressEvent>,
    pub listeners: RwLock<Vec<Listener>>,
}

impl Happenings {
    pub fn new() -> Self {
        Self { readers: broadcast::channel(KEPT).0, listeners: RwLock::default() }
    }

    pub fn say(&self, happening: ProgressEvent) {
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
