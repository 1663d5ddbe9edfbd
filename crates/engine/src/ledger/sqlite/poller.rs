//! Looks for what other processes write, for as long as there is a watcher.
//!
//! The system says at once that a file beside the ledger was written. What was written can be read a moment later, when it
//! is safe on the disk, so the poller looks again and again then. Where the system says nothing (network folders, macOS), it
//! still looks from time to time.

use super::super::Result;
use super::open::{Access, identity, options};
use platform::Writes;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long after a write it looks first. From then on it takes twice as long each time, up to [`SLOW`].
const QUICK: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_millis(100);

/// Ends when it is dropped. Its connection is closed by the task that has it, for which the ledger waits when it is closed:
/// the last connection tidies up beside the ledger.
pub struct Poller(CancellationToken);

impl Poller {
    pub(super) async fn start(
        dir: &Path,
        access: Access,
        file: Option<(u64, u64)>,
        changes: watch::Sender<u64>,
        tasks: &TaskTracker,
    ) -> Result<Self> {
        // A connection of its own: the number that is polled changes when *another* connection writes.
        let mut connection = options(dir, access).connect().await?;
        let mut seen = data_version(&mut connection).await?;
        let (dir, mut writes) = (dir.to_owned(), Writes::new(dir));
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tasks.spawn(async move {
            let mut wait = SLOW;
            loop {
                let is_written = tokio::select! {
                    () = stopped.cancelled() => break,
                    written = timeout(wait, writes.next()) => written.is_ok(),
                };
                if is_written {
                    wait = QUICK;
                    // One commit is several writes.
                    sleep(QUICK).await;
                } else {
                    wait = (wait * 2).min(SLOW);
                }
                let now = data_version(&mut connection).await.ok();
                // A removed or renamed file is not written any more, so its version does not change.
                if now != Some(seen) || identity(&dir) != file {
                    seen = now.unwrap_or(seen);
                    wait = SLOW;
                    changes.send_modify(|count| *count += 1);
                }
            }
            connection.close().await.ok();
        });
        Ok(Self(stop))
    }

    pub(super) fn stop(&self) {
        self.0.cancel();
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn data_version(connection: &mut SqliteConnection) -> Result<i64> {
    Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await?)
}

#[cfg(target_os = "linux")]
mod platform {
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use std::io;
    use std::path::Path;
    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe::Receiver;

    /// More than one change, which has a name; what does not fit is read next.
    const BUFFER_BYTES: usize = 4096;

    /// Tells that a file in a folder was written.
    pub(super) struct Writes(Option<Receiver>);

    impl Writes {
        /// Without an error: where a folder cannot be watched, nothing is told.
        pub fn new(dir: &Path) -> Self {
            let watched = || -> io::Result<Receiver> {
                let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
                inotify::add_watch(&fd, dir, WatchFlags::MODIFY)?;
                // It is no pipe, and is read and waited for like one.
                Receiver::from_owned_fd_unchecked(fd)
            };
            Self(watched().ok())
        }

        pub async fn next(&mut self) {
            let mut buffer = [0; BUFFER_BYTES];
            if let Some(events) = &mut self.0 {
                match events.read(&mut buffer).await {
                    Ok(1..) => return,
                    Ok(0) | Err(_) => self.0 = None,
                }
            }
            std::future::pending().await
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::path::Path;

    /// Tells nothing on this system.
    pub(super) struct Writes;

    impl Writes {
        pub fn new(_: &Path) -> Self {
            Self
        }

        pub async fn next(&mut self) {
            std::future::pending().await
        }
    }
}
