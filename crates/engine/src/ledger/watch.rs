//! Watching: learning that something may have changed, in this process or in another.

use super::open::{Access, identity, options};
use super::{Ledger, LedgerError};
use sqlx::{ConnectOptions, SqliteConnection};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often another process's writing is looked for.
const POLL_MS: u64 = 100;

/// Tells when something may have changed since it was made, or since it told last. Make it first, then read,
/// then wait: so nothing is missed.
pub struct Watcher {
    receiver: watch::Receiver<u64>,
    _poller: Arc<Poller>,
}

impl Watcher {
    pub(super) async fn new(ledger: &Ledger) -> Result<Self, LedgerError> {
        let receiver = ledger.changes().subscribe();
        let poller = ledger.poller().await?;
        Ok(Self { receiver, _poller: poller })
    }

    /// Waits until something may have changed. What can no longer be read counts as changed, so that whoever
    /// reads next learns why.
    pub async fn changed(&mut self) {
        // The poller has a sender too, so this fails only where the runtime is ending.
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Looks for changes by other processes for as long as there is a watcher.
pub(super) struct Poller(JoinHandle<()>);

impl Poller {
    pub(super) async fn start(ledger: &Ledger, access: Access) -> Result<Self, LedgerError> {
        // A connection of its own: the number that is polled changes when *another* connection writes.
        let mut connection = options(ledger.dir(), access).connect().await?;
        let mut seen = data_version(&mut connection).await?;
        let changes = ledger.changes().clone();
        let (dir, file) = (ledger.dir().to_owned(), ledger.file());
        Ok(Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(POLL_MS)).await;
                match data_version(&mut connection).await {
                    // Nobody writes to a file that lost its name.
                    Ok(_) if identity(&dir) != file => changes.send_modify(|count| *count += 1),
                    Ok(version) if version == seen => {}
                    Ok(version) => {
                        seen = version;
                        changes.send_modify(|count| *count += 1);
                    }
                    Err(_) => changes.send_modify(|count| *count += 1),
                }
            }
        })))
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn data_version(connection: &mut SqliteConnection) -> Result<i64, LedgerError> {
    Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await?)
}
