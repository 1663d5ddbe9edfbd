//! Handles that last as long as they are kept: watching for changes, and the name of this process as a holder.

use super::store::Kept;
use tokio::sync::watch;

/// Tells when something may have changed since it was made, or since it told last. Make it first, then read,
/// then wait: so nothing is missed.
pub struct Watcher {
    pub(super) receiver: watch::Receiver<u64>,
    pub(super) _follows: Kept,
}

impl Watcher {
    /// Waits until something may have changed. What can no longer be read counts as changed, so that the next
    /// read says why.
    pub async fn changed(&mut self) {
        // Without a ledger nothing changes any more.
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A name of this process, for as long as it is kept.
pub struct Holder {
    pub(super) id: String,
    pub(super) _lease: Kept,
}

impl Holder {
    /// The name other processes ask about.
    pub fn id(&self) -> &str {
        &self.id
    }
}
