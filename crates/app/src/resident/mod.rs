//! What a server shares between its calls: the project, the engine, and reviews that are performed in the background.

mod followed;

pub use followed::{Followed, LOOK, counted, is_performed, until_it_stands};

use crate::Failure;
use crate::change::{self, Base};
use crate::project::{Project, environment, guard_program};
use countersign_core::happening::Happening;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, EngineError, Planner, Ticket};
use countersign_engine::ledger::{Ledger, Stored};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long reviewers get to end when the server does. Their guards end them all the same.
const ENDING: Duration = Duration::from_secs(5);

/// A process that stays: it lives longer than any call, and than any state of the configuration.
#[derive(Clone)]
pub struct Resident(Arc<Inner>);

struct Inner {
    /// What it says of itself.
    name: &'static str,
    /// The folder whose project is served; paths that clients send are relative to it.
    folder: PathBuf,
    config: Option<PathBuf>,
    /// Ends with the server.
    stopping: CancellationToken,
    /// What was opened, once a call needed it.
    opened: tokio::sync::Mutex<Opened>,
    /// Rounds that are performed here now.
    performed: Mutex<HashSet<(ReviewId, u32)>>,
    tasks: TaskTracker,
}

/// What stays open from one call to the next.
#[derive(Default)]
struct Opened {
    ledger: Option<Ledger>,
    engine: Option<Engine>,
}

impl Opened {
    /// The ledger to write to: the first who needs it makes it.
    async fn ledger(&mut self, project: &Project) -> Result<Ledger, Failure> {
        let ledger = match self.ledger.take() {
            Some(ledger) => ledger,
            None => project.ledger().await?,
        };
        self.ledger = Some(ledger.clone());
        Ok(ledger)
    }
}

impl Resident {
    /// One that has opened nothing yet.
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
            tasks: TaskTracker::new(),
        }))
    }

    /// What it says of itself.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Ends with the server.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// What is done beside the calls. It is waited for when the server stops.
    pub fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    /// Does something beside the calls.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    /// The project, with the configuration as it is now.
    pub fn project(&self) -> Result<Project, Failure> {
        self.project_for(None)
    }

    /// The same with somebody else to ask.
    pub fn project_for(&self, reviewer: Option<String>) -> Result<Project, Failure> {
        Project::find_at(self.0.folder.clone(), self.0.config.as_deref(), reviewer, &environment())
    }

    /// What a change is against, with the project under the configuration of that commit.
    pub async fn base(&self, named: Option<&str>) -> Result<Base, Failure> {
        let flags = Flags { config: self.0.config.clone(), reviewer: None };
        change::base(self.0.folder.clone(), &flags, &environment(), named, false).await
    }

    /// The ledger for looking, where there is one: a look makes none.
    pub async fn ledger(&self, project: &Project) -> Result<Option<Ledger>, Failure> {
        if let Some(ledger) = &self.0.opened.lock().await.ledger {
            return Ok(Some(ledger.clone()));
        }
        project.existing_ledger().await
    }

    /// The ledger to write to, also where nobody could be asked for a review.
    pub async fn ledger_to_write(&self, project: &Project) -> Result<Ledger, Failure> {
        self.0.opened.lock().await.ledger(project).await
    }

    /// The engine with the panel this project has now. The first call opens the ledger.
    pub async fn engine(&self, project: &Project) -> Result<Engine, Failure> {
        self.engine_for(project, project.planner(None)?).await
    }

    /// The engine with a planner of the caller's.
    pub async fn engine_for(&self, project: &Project, planner: Planner) -> Result<Engine, Failure> {
        let mut opened = self.0.opened.lock().await;
        let engine = match &opened.engine {
            Some(engine) => engine.replanned(planner),
            None => Engine::new(planner, opened.ledger(project).await?, guard_program()?)?,
        };
        opened.engine = Some(engine.clone());
        Ok(engine)
    }

    /// Performs a review in the background, unless that is being done already.
    pub fn perform(&self, engine: &Engine, ticket: Ticket) {
        let round = (ticket.review.clone(), ticket.round);
        if self.0.stopping.is_cancelled() || !self.performed().insert(round.clone()) {
            return;
        }
        let (resident, engine) = (self.clone(), engine.clone());
        self.0.tasks.spawn(async move {
            let ended = perform(&engine, &ticket, &resident.0.stopping).await;
            resident.performed().remove(&round);
            if let Err(error) = ended
                && !matches!(error, EngineError::Interrupted)
            {
                // Whoever waits reads the ledger, where this review stands as interrupted.
                eprintln!(
                    "{}: review {}: {}",
                    resident.0.name,
                    ticket.review,
                    visible_line(&error.to_string())
                );
            }
        });
    }

    /// Whether a review is being performed here.
    pub fn performs(&self, review: &ReviewId) -> bool {
        self.performed().iter().any(|(performed, _)| performed == review)
    }

    /// Whether a review is this server's to perform.
    pub async fn holds(&self, stored: &Stored) -> bool {
        self.0.opened.lock().await.engine.as_ref().is_some_and(|engine| engine.holds(stored))
    }

    /// What happens from now on, where anything can.
    pub async fn happenings(&self) -> Option<broadcast::Receiver<Happening>> {
        self.0.opened.lock().await.engine.as_ref().map(Engine::watch)
    }

    fn performed(&self) -> std::sync::MutexGuard<'_, HashSet<(ReviewId, u32)>> {
        self.0.performed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops: reviewers are ended, what they were asked stays open for whoever hands the same in again.
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
