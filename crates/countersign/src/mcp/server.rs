//! The state that all calls share: the resident process, the options and the memory of workflows.

use super::Options;
use super::tools::Afterwards;
use countersign_app::project::Project;
use countersign_app::server_state::ServerState;
use countersign_doors::jobs::Memory;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedRwLockReadGuard, OwnedSemaphorePermit, RwLock, Semaphore};
use tokio_util::sync::CancellationToken;

/// More than the agents of one machine wait for at once. A client may send any number of calls before it reads an answer.
const CALLS_AT_ONCE: usize = 256;

/// The delivery of an answer, until it is on record.
pub type Delivery = OwnedRwLockReadGuard<()>;

#[derive(Clone)]
pub struct Server {
    resident: ServerState,
    pub options: Arc<Options>,
    /// Whether one client is served, so that it need not say who it is.
    pub one_client: bool,
    memory: Arc<OnceLock<Arc<Memory>>>,
    /// Permits for calls that are performed at once; others wait for their turn.
    calls: Arc<Semaphore>,
    /// Read-locked by every answer whose delivery is being recorded.
    deliveries: Arc<RwLock<()>>,
}

impl Server {
    pub fn new(options: Options, one_client: bool, stopping: CancellationToken) -> Self {
        let (folder, config) = (options.folder.clone(), options.config.clone());
        let resident = ServerState::new("countersign mcp", folder, config, stopping);
        let options = Arc::new(options);
        let calls = Arc::new(Semaphore::new(CALLS_AT_ONCE));
        Self { resident, options, one_client, memory: Arc::default(), calls, deliveries: Arc::default() }
    }

    /// The turn of a call; it ends when this is dropped. None once the server has no more turns to give.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.calls.clone().acquire_owned().await.ok()
    }

    /// Taken before an answer is written, and given to [`Server::record`].
    pub async fn delivery(&self) -> Delivery {
        self.deliveries.clone().read_owned().await
    }

    pub fn record(&self, delivery: Delivery, afterwards: Afterwards) {
        self.spawn(async move {
            afterwards.await;
            drop(delivery);
        });
    }

    /// Waits for the deliveries under way: a client that has an answer and calls again at once must not get the same
    /// answer again.
    pub async fn deliveries_recorded(&self) {
        drop(self.deliveries.write().await);
    }

    /// What the tools of workflows keep from one call to the next.
    pub fn jobs(&self, project: &Project) -> Arc<Memory> {
        self.memory.get_or_init(|| Arc::new(Memory::new(project.job_library()))).clone()
    }
}

impl Deref for Server {
    type Target = ServerState;

    fn deref(&self) -> &ServerState {
        &self.resident
    }
}
