//! What all calls share: the resident process, and what the tools of workflows know from one call to the next.

use super::options::Options;
use super::tools::Afterwards;
use countersign_app::project::Project;
use countersign_app::resident::Resident;
use countersign_doors::jobs::Memory;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio_util::sync::CancellationToken;

/// The delivery of an answer, until it is on record.
pub type Delivery = OwnedRwLockReadGuard<()>;

/// A running server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    resident: Resident,
    options: Options,
    /// What the tools of workflows know from one call to the next.
    jobs: OnceLock<Arc<Memory>>,
    /// Whether one client is served, so that it need not say who it is.
    one_client: bool,
    /// Read by every answer whose delivery is being recorded.
    deliveries: Arc<RwLock<()>>,
}

impl Server {
    /// A server that has opened nothing yet.
    pub fn new(options: Options, one_client: bool, stopping: CancellationToken) -> Self {
        let (folder, config) = (options.folder.clone(), options.config.clone());
        let resident = Resident::new("countersign mcp", folder, config, stopping);
        Self(Arc::new(Inner {
            resident,
            options,
            jobs: OnceLock::new(),
            one_client,
            deliveries: Arc::default(),
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

    /// Taken before an answer is written, and given to [`Server::record`].
    pub async fn delivery(&self) -> Delivery {
        self.0.deliveries.clone().read_owned().await
    }

    /// Records that an answer was delivered.
    pub fn record(&self, delivery: Delivery, afterwards: Afterwards) {
        self.spawn(async move {
            afterwards.await;
            drop(delivery);
        });
    }

    /// Waits for the deliveries under way: a client that has an answer and calls again at once must not get the same
    /// answer again.
    pub async fn deliveries_recorded(&self) {
        drop(self.0.deliveries.write().await);
    }

    /// What the tools of workflows know from one call to the next.
    pub fn jobs(&self, project: &Project) -> Arc<Memory> {
        let memory = || Arc::new(Memory::new(project.job_library()));
        self.0.jobs.get_or_init(memory).clone()
    }
}

/// A server is a resident process with tools.
impl Deref for Server {
    type Target = Resident;

    fn deref(&self) -> &Resident {
        &self.0.resident
    }
}
