//! Learning of what other processes write.

use super::super::Result;
use super::open::{Access, identity, options};
use sqlx::{ConnectOptions, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

const POLL_MS: u64 = 100;

/// Looks for changes by other processes for as long as there is a watcher.
pub struct Poller(JoinHandle<()>);

impl Poller {
    pub(super) async fn start(
        dir: &Path,
        access: Access,
        file: Option<(u64, u64)>,
        changes: watch::Sender<u64>,
    ) -> Result<Self> {
        // A connection of its own: the number that is polled changes when *another* connection writes.
        let mut connection = options(dir, access).connect().await?;
        let mut seen = data_version(&mut connection).await?;
        let dir = dir.to_owned();
        Ok(Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(POLL_MS)).await;
                let now = data_version(&mut connection).await.ok();
                // A removed or renamed file is not written any more, so its version does not change.
                if now != Some(seen) || identity(&dir) != file {
                    seen = now.unwrap_or(seen);
                    changes.send_modify(|count| *count += 1);
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

async fn data_version(connection: &mut SqliteConnection) -> Result<i64> {
    Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await?)
}
