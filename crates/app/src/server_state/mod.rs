//! The state that a server shares between its calls: the ledger, the engine, and the reviews in the background.

mod followed;

pub use followed::{LOOK, ReadAgain, ReviewState, is_performed, until_it_stands};

use crate::Failure;
use crate::authority::FlagsFrom;
use crate::change::{self, Base};
use crate::project::{Project, environment, guard_program};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::progress::ProgressEvent;
use countersign_core::text::visible_line;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, EngineError, Planner, Ticket};
use countersign_engine::ledger::{Ledger, Stored};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// For reviewers to end when the server stops. Their guards end them anyway.
const ENDING: Duration = Duration::from_secs(5);

/// A server process. It reads the configuration anew for each call.
#[derive(Clone)]
pub struct ServerState(Arc<Inner>);

struct Inner {
    name: &'static str,
    /// The served folder: paths of clients are relative to it.
    folder: PathBuf,
    config: Option<PathBuf>,
    /// Ends with the server.
    stopping: CancellationToken,
    opened: tokio::sync::Mutex<Opened>,
    performed: Mutex<HashSet<(ReviewId, u32)>>,
    /// Counts the reviews that this process is done with, for those who wait for one.
    done: watch::Sender<u64>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Opened {
    ledger: Option<Ledger>,
    engine: Option<Engine>,
}

impl Opened {
    /// The ledger to write to, created by the first call that needs it.
    async fn ledger(&mut self, project: &Project) -> Result<Ledger, Failure> {
        let ledger = match self.ledger.take() {
            Some(ledger) => ledger,
            None => project.ledger().await?,
        };
        self.ledger = Some(ledger.clone());
        Ok(ledger)
    }
}

impl ServerState {
    pub fn new(
        name: &'static str,
        folder: PathBuf,
        config: Option<PathBuf>,
        stopping: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner {
            name,
            folder,
            config,
            stopping,
            opened: tokio::sync::Mutex::default(),
            performed: Mutex::default(),
            done: watch::Sender::default(),
            tasks: TaskTracker::new(),
        }))
    }

    pub fn name(&self) -> &'static str {
        self.0.name
    }

    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// The background tasks. The server waits for them when it stops.
    pub fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    pub fn project(&self) -> Result<Project, Failure> {
        self.project_for(None)
    }

    pub fn project_for(&self, reviewer: Option<String>) -> Result<Project, Failure> {
        Project::find_at(self.0.folder.clone(), self.0.config.as_deref(), reviewer, &environment())
    }

    /// The base of a change, with the project under the configuration of that commit.
    pub async fn base(&self, named: Option<&str>) -> Result<Base, Failure> {
        let flags = Flags { config: self.0.config.clone(), reviewer: None };
        change::base(self.0.folder.clone(), &flags, &environment(), named, false).await
    }

    /// The same for a gate, with the trusted configuration.
    pub async fn gate_base(&self, named: Option<&str>) -> Result<Base, Failure> {
        let flags = Flags { config: self.0.config.clone(), reviewer: None };
        change::gate_base(self.0.folder.clone(), &flags, FlagsFrom::Settings, named).await
    }

    /// The project of a gate, with the trusted configuration.
    pub async fn gate_project(&self, reviewer: Option<String>) -> Result<Project, Failure> {
        let flags = Flags { config: self.0.config.clone(), reviewer };
        Project::for_gate(self.0.folder.clone(), &flags, FlagsFrom::Settings).await
    }

    /// The ledger to read, if there is one: reading never creates it.
    pub async fn ledger(&self, project: &Project) -> Result<Option<Ledger>, Failure> {
        if let Some(ledger) = &self.0.opened.lock().await.ledger {
            return Ok(Some(ledger.clone()));
        }
        project.existing_ledger().await
    }

    /// The ledger to write to, also where no reviewer is configured.
    pub async fn ledger_to_write(&self, project: &Project) -> Result<Ledger, Failure> {
        self.0.opened.lock().await.ledger(project).await
    }

    /// The engine with the reviewers that the project has now.
    pub async fn engine(&self, project: &Project) -> Result<Engine, Failure> {
        self.engine_for(project, project.planner(None)?).await
    }

    pub async fn engine_for(&self, project: &Project, planner: Planner) -> Result<Engine, Failure> {
        let mut opened = self.0.opened.lock().await;
        let engine = match &opened.engine {
            Some(engine) => engine.replanned(planner),
            None => Engine::new(planner, opened.ledger(project).await?, guard_program()?)?,
        };
        opened.engine = Some(engine.clone());
        Ok(engine)
    }

    /// Performs a review in the background, unless this process does so already.
    pub fn perform(&self, engine: &Engine, ticket: Ticket) {
        let round = (ticket.review.clone(), ticket.round);
        if self.0.stopping.is_cancelled() || !self.performed().insert(round.clone()) {
            return;
        }
        let (resident, engine) = (self.clone(), engine.clone());
        self.0.tasks.spawn(async move {
            let ended = perform(&engine, &ticket, &resident.0.stopping).await;
            resident.performed().remove(&round);
            resident.0.done.send_modify(|done| *done += 1);
            if let Err(error) = ended
                && !matches!(error, EngineError::Interrupted)
            {
                // Waiting calls read the ledger, which shows this review as interrupted.
                let error = error.to_string();
                eprintln!("{}: review {}: {}", resident.0.name, ticket.review, visible_line(&error));
            }
        });
    }

    pub fn performs(&self, review: &ReviewId) -> bool {
        self.performed().iter().any(|(performed, _)| performed == review)
    }

    /// Tells when this process is done with a review, whichever: its end is on record by then.
    pub fn done(&self) -> watch::Receiver<u64> {
        self.0.done.subscribe()
    }

    pub async fn holds(&self, stored: &Stored) -> bool {
        self.0.opened.lock().await.engine.as_ref().is_some_and(|engine| engine.holds(stored))
    }

    /// The events from now on; none where no engine is open.
    pub async fn events(&self) -> Option<broadcast::Receiver<ProgressEvent>> {
        self.0.opened.lock().await.engine.as_ref().map(Engine::watch)
    }

    fn performed(&self) -> std::sync::MutexGuard<'_, HashSet<(ReviewId, u32)>> {
        self.0.performed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the server. Reviewers are ended, and their questions stay open until the same work is submitted again.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        self.0.tasks.close();
        let _ = tokio::time::timeout(ENDING, self.0.tasks.wait()).await;
        let Opened { ledger, .. } = std::mem::take(&mut *self.0.opened.lock().await);
        if let Some(ledger) = ledger {
            let _ = tokio::time::timeout(ENDING, ledger.close()).await;
        }
    }
}

async fn perform(engine: &Engine, ticket: &Ticket, stopping: &CancellationToken) -> Result<(), EngineError> {
    let stored = engine.wait(ticket, stopping).await?;
    if ticket.outcome(&stored) == Outcome::AwaitingPerson {
        engine.renew_self_review(ticket).await?;
    }
    Ok(())
}
