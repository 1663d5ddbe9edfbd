//! What all calls share: the project, the engine, and reviews that are performed in the background.

use super::options::Options;
use crate::change::{self, Base};
use crate::cli::Failure;
use crate::project::{Project, environment};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::jobs::Memory;
use countersign_engine::config::Flags;
use countersign_engine::engine::{Engine, EngineError, Happening, Ticket};
use countersign_engine::ledger::{Ledger, Stored};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long reviewers get to end when the server does. Their guards end them all the same.
const ENDING: Duration = Duration::from_secs(5);

/// A running server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    options: Options,
    /// Ends with the server.
    stopping: CancellationToken,
    /// The engine, once a call needed it.
    engine: tokio::sync::Mutex<Option<Engine>>,
    /// What the tools of workflows know from one call to the next.
    jobs: OnceLock<Arc<Memory>>,
    /// Whether one client is served, so that it need not say who it is.
    one_client: bool,
    /// Rounds that are performed here now.
    performed: Mutex<HashSet<(ReviewId, u32)>>,
    tasks: TaskTracker,
}

impl Server {
    /// A server that has opened nothing yet.
    pub fn new(options: Options, one_client: bool, stopping: CancellationToken) -> Self {
        Self(Arc::new(Inner {
            options,
            jobs: OnceLock::new(),
            one_client,
            stopping,
            engine: tokio::sync::Mutex::default(),
            performed: Mutex::default(),
            tasks: TaskTracker::new(),
        }))
    }

    /// What it was started with.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Whether one client is served.
    pub fn has_one_client(&self) -> bool {
        self.0.one_client
    }

    /// What the tools of workflows know from one call to the next.
    pub fn jobs(&self, project: &Project) -> Arc<Memory> {
        let memory = || Arc::new(Memory::new(project.job_library()));
        self.0.jobs.get_or_init(memory).clone()
    }

    /// Ends with the server.
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// The project, with the configuration as it is now.
    pub fn project(&self) -> Result<Project, Failure> {
        let Options { folder, global, .. } = &self.0.options;
        Project::find_at(folder.clone(), global, None, &environment())
    }

    /// What a change is against, with the project under the configuration of that commit.
    pub async fn base(&self, named: Option<&str>) -> Result<Base, Failure> {
        let Options { folder, global, .. } = &self.0.options;
        let flags = Flags { config: global.config.clone(), reviewer: None };
        change::base(folder.clone(), &flags, &environment(), named, false).await
    }

    /// The ledger for looking, where there is one: a look makes none.
    pub async fn ledger(&self, project: &Project) -> Result<Option<Ledger>, Failure> {
        if let Some(engine) = &*self.0.engine.lock().await {
            return Ok(Some(engine.ledger().clone()));
        }
        project.existing_ledger().await
    }

    /// The engine with the panel this project has now. The first call opens the ledger.
    pub async fn engine(&self, project: &Project) -> Result<Engine, Failure> {
        let planner = project.planner(None)?;
        let mut kept = self.0.engine.lock().await;
        let engine = match &*kept {
            Some(engine) => engine.replanned(planner),
            None => project.engine(planner).await?,
        };
        *kept = Some(engine.clone());
        Ok(engine)
    }

    /// Performs a review in the background, unless that is being done already.
    pub fn perform(&self, engine: &Engine, ticket: Ticket) {
        let round = (ticket.review.clone(), ticket.round);
        if self.0.stopping.is_cancelled() || !self.performed().insert(round.clone()) {
            return;
        }
        let (server, engine) = (self.clone(), engine.clone());
        self.0.tasks.spawn(async move {
            let ended = perform(&engine, &ticket, &server.0.stopping).await;
            server.performed().remove(&round);
            if let Err(error) = ended
                && !matches!(error, EngineError::Interrupted)
            {
                // Whoever waits reads the ledger, where this review stands as interrupted.
                eprintln!("countersign mcp: review {}: {}", ticket.review, visible_line(&error.to_string()));
            }
        });
    }

    /// Whether a review is being performed here.
    pub fn performs(&self, review: &ReviewId) -> bool {
        self.performed().iter().any(|(performed, _)| performed == review)
    }

    /// Whether a review is this server's to perform.
    pub async fn holds(&self, stored: &Stored) -> bool {
        self.0.engine.lock().await.as_ref().is_some_and(|engine| engine.holds(stored))
    }

    /// What happens from now on, where anything can.
    pub async fn happenings(&self) -> Option<broadcast::Receiver<Happening>> {
        self.0.engine.lock().await.as_ref().map(Engine::watch)
    }

    /// Does something beside the calls. It is waited for when the server stops.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    fn performed(&self) -> std::sync::MutexGuard<'_, HashSet<(ReviewId, u32)>> {
        self.0.performed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops: reviewers are ended, what they were asked stays open for whoever hands the same in again.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        self.0.tasks.close();
        let _ = tokio::time::timeout(ENDING, self.0.tasks.wait()).await;
        if let Some(engine) = self.0.engine.lock().await.take() {
            let _ = tokio::time::timeout(ENDING, engine.ledger().clone().close()).await;
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
