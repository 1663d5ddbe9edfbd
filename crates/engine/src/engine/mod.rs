//! The engine: does what is due.
//! `submit` hands work in, `wait` performs what the core says is due until the round has ended. A process may die at
//! any point between the two: whichever process submits the same bytes again goes on from there.

mod ask;
mod budget;
mod consult;
mod dispute;
mod drive;
mod error;
mod hold;
mod locations;
mod panel;
mod place;
mod planner;
mod progress;
mod reading;
mod record;
mod redact;
mod self_review;
mod slots;
mod submit;
mod submitted_change;
mod two_call;
mod verbs;

pub use consult::{Consultation, Consulted};
pub use dispute::{DISPUTES, Found, findings_named};
pub use error::EngineError;
pub use panel::{Judge, Panel, Panelist};
pub use planner::{Bounds, Planner, Prepared, Preview, Request};
pub use progress::Listener;
pub(crate) use self_review::section;
pub use self_review::{SelfReviewResults, self_review_file};
pub use submit::Ticket;
pub use submitted_change::SubmittedChange;
pub use two_call::{PARSE_REVIEW, TwoCall};

use crate::ledger::{Holder, Ledger};
use crate::process::GuardProgram;
use countersign_core::ids::ReviewId;
use countersign_core::progress::ProgressEvent;
use error::Result;
use progress::Happenings;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

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
}

impl Engine {
    pub fn new(planner: Planner, ledger: Ledger, guard: GuardProgram) -> Result<Self> {
        let holder = Arc::new(ledger.holder()?);
        let events = Arc::new(Happenings::new());
        let driving = Arc::default();
        Ok(Self(Arc::new(Inner { planner, ledger, holder, guard, events, driving })))
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

    /// What happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<ProgressEvent> {
        self.0.events.readers.subscribe()
    }

    /// Calls a listener for everything that happens from now on, in this engine and in those made from it.
    pub fn listen(&self, listener: Listener) {
        self.0.events.listeners.write().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Tells all listeners what happens.
    pub fn say(&self, happening: ProgressEvent) {
        self.0.events.say(happening);
    }
}
