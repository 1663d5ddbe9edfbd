//! Tells that the ledger may have changed, in this process or in another.

use super::store::Kept;
use tokio::sync::watch;

/// Tells when something may have changed since it was made, or since it told last. Make it first, then read,
/// then wait: so nothing is missed.
pub struct Watcher {
    pub(super) receiver: watch::Receiver<u64>,
    pub(super) _follows: Kept,
}

impl Watcher {
    /// Waits until something may have changed. What can no longer be read counts as changed, so that whoever
    /// reads next learns why.
    pub async fn changed(&mut self) {
        // Without a ledger nothing changes any more.
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
