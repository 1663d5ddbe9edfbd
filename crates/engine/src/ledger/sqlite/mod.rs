//! The store in one SQLite file that several processes may use at once: connections, transactions, locks.

mod calls;
mod damage;
mod events;
mod lease;
mod moving;
mod open;
mod packed;
mod poller;
mod reviews;
mod schema;
mod shadow;

use super::{LedgerError, Result};
use open::{Access, BUSY_SECONDS};
use poller::Poller;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqlitePoolOptions, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row as _, SqliteConnection, SqlitePool};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio_util::task::TaskTracker;

pub(super) use damage::explained;
pub(super) use lease::{Lease, is_alive, process_of};
pub(super) use moving::{is_left_to_move, set_aside, take_over};
pub use open::{LEDGER_FILE, OUTSIDE_OF_GIT};
pub(super) use open::{file, ignore_by_git, is_writable, make_folder, require_readable};
pub use schema::FORMAT;

const MAX_READERS: u32 = 4;

pub(super) struct Sqlite {
    dir: Arc<Path>,
    access: Access,
    /// Which file was opened. SQLite goes on writing to a file that was removed or renamed.
    file: Option<(u64, u64)>,
    readers: SqlitePool,
    /// At most one transaction at a time in this process; the connection rests here in between.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    poller: Mutex<Weak<Poller>>,
    /// Pollers, also such as are ending.
    pollers: TaskTracker,
}

/// A connection in use. That of a writer comes back to its slot after a successful commit only. Otherwise it is closed,
/// which is the one way of rolling back that cannot fail half-way: SQLite ends a transaction after some errors and keeps
/// it after others.
pub(super) enum Session {
    Reader(PoolConnection<sqlx::Sqlite>, Arc<Path>),
    Snapshot(SqliteConnection, Arc<Path>),
    Writer(Box<Writer>),
}

pub(super) struct Writer {
    connection: SqliteConnection,
    slot: OwnedMutexGuard<Option<SqliteConnection>>,
    dir: Arc<Path>,
    file: Option<(u64, u64)>,
}

impl Sqlite {
    /// Opens the file in this folder; makes both where there are none.
    pub async fn open(dir: &Path) -> Result<Self> {
        match open::writer(dir).await {
            Ok(writer) => Ok(Self::new(dir, Access::Write, Some(writer))),
            Err(error) => Err(explained(error, dir).await),
        }
    }

    /// Opens the file in this folder if there is one; makes nothing, and reads also where nothing may be written.
    pub async fn open_existing(dir: &Path) -> Result<Option<Self>> {
        let Some(access) = open::look(dir)? else { return Ok(None) };
        let store = Self::new(dir, access, None);
        let opened = async {
            let found = schema::inspect(&mut *store.readers.acquire().await?).await?;
            let is_older = matches!(found, schema::DatabaseKind::First | schema::DatabaseKind::Second);
            if is_older && access == Access::Write {
                open::writer(dir).await?;
            }
            match found {
                schema::DatabaseKind::Empty => Err(LedgerError::Emptied),
                _ => Ok(()),
            }
        };
        match opened.await {
            Ok(()) => Ok(Some(store)),
            Err(error) => Err(explained(error, dir).await),
        }
    }

    fn new(dir: &Path, access: Access, writer: Option<SqliteConnection>) -> Self {
        // Connections to a file need no refresh, and a broken one fails when it is used.
        let readers = SqlitePoolOptions::new()
            .max_connections(MAX_READERS)
            .acquire_timeout(Duration::from_secs(BUSY_SECONDS))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(open::options(dir, access));
        Self {
            dir: dir.into(),
            access,
            file: open::identity(dir),
            readers,
            writer: Arc::new(Mutex::new(writer)),
            poller: Mutex::new(Weak::new()),
            pollers: TaskTracker::new(),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    pub async fn read(&self) -> Result<Session> {
        Ok(Session::Reader(self.readers.acquire().await?, self.dir.clone()))
    }

    pub async fn snapshot(&self) -> Result<Session> {
        // A connection of its own, because it holds on to one state of the file for as long as it takes.
        let mut connection = open::options(&self.dir, self.access).connect().await?;
        sqlx::raw_sql("BEGIN").execute(&mut connection).await?;
        Ok(Session::Snapshot(connection, self.dir.clone()))
    }

    pub async fn write(&self) -> Result<Session> {
        if self.access != Access::Write {
            return Err(LedgerError::ReadOnly("it was opened for reading only".to_owned()));
        }
        self.require_in_place()?;
        let mut slot = Arc::clone(&self.writer).lock_owned().await;
        let begun = async {
            let mut connection = match slot.take() {
                Some(connection) => connection,
                None => open::options(&self.dir, Access::Write).connect().await?,
            };
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await?;
            let (dir, file) = (self.dir.clone(), self.file);
            Ok(Session::Writer(Box::new(Writer { connection, slot, dir, file })))
        };
        match begun.await {
            Ok(session) => Ok(session),
            Err(error) => Err(explained(error, &self.dir).await),
        }
    }

    /// Looks for what other processes write, once for all who want to know.
    pub async fn follow(&self, changes: &watch::Sender<u64>) -> Result<Arc<Poller>> {
        let mut known = self.poller.lock().await;
        if let Some(poller) = known.upgrade() {
            return Ok(poller);
        }
        let poller = Poller::start(&self.dir, self.access, self.file, changes.clone(), &self.pollers).await?;
        let poller = Arc::new(poller);
        *known = Arc::downgrade(&poller);
        Ok(poller)
    }

    /// Writes one state into a new file, which becomes a ledger like this one.
    pub async fn copy_to(&self, file: &Path) -> Result<()> {
        let copy = async {
            let mut connection = open::options(&self.dir, self.access).connect().await?;
            sqlx::query("VACUUM INTO $1").bind(file.to_string_lossy()).execute(&mut connection).await?;
            connection.close().await?;
            let mut copied = open::options_of(file, Access::Write).connect().await?;
            sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut copied).await?;
            Ok(copied.close().await?)
        };
        let folder = file.parent().unwrap_or(&self.dir);
        copy.await.map_err(|error: LedgerError| open::explain(error, folder))
    }

    pub async fn shrink(&self) -> Result<()> {
        let mut connection = open::options(&self.dir, self.access).connect().await?;
        sqlx::raw_sql("VACUUM").execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    pub fn require_in_place(&self) -> Result<()> {
        in_place(&self.dir, self.file)
    }

    /// Closes the file in order, which leaves nothing beside it. Without it nothing is lost either.
    pub async fn close(&self) {
        if let Some(connection) = self.writer.lock().await.take() {
            // The next one to open it tidies up instead.
            connection.close().await.ok();
        }
        self.readers.close().await;
        if let Some(poller) = self.poller.lock().await.upgrade() {
            poller.stop();
        }
        self.pollers.close();
        self.pollers.wait().await;
    }
}

fn in_place(dir: &Path, file: Option<(u64, u64)>) -> Result<()> {
    if open::identity(dir) == file { Ok(()) } else { Err(LedgerError::Replaced) }
}

impl Session {
    fn connection(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Reader(connection, _) => connection,
            Self::Snapshot(connection, _) => connection,
            Self::Writer(writer) => &mut writer.connection,
        }
    }

    /// An error of this session with its cause.
    pub async fn explained(&self, error: LedgerError) -> LedgerError {
        let dir = match self {
            Self::Reader(_, dir) | Self::Snapshot(_, dir) => dir,
            Self::Writer(writer) => &writer.dir,
        };
        explained(error, dir).await
    }

    pub async fn commit(self) -> Result<()> {
        match self {
            Self::Reader(..) => Ok(()),
            Self::Snapshot(mut connection, _) => {
                sqlx::raw_sql("COMMIT").execute(&mut connection).await?;
                Ok(connection.close().await?)
            }
            Self::Writer(writer) => {
                let Writer { mut connection, mut slot, dir, file } = *writer;
                let done = sqlx::raw_sql("COMMIT").execute(&mut connection).await;
                done.map_err(|error| open::explain(LedgerError::from(error), &dir))?;
                // After a check of the file, because other processes read the file of this name.
                let placed = in_place(&dir, file);
                if placed.is_ok() {
                    *slot = Some(connection);
                }
                placed
            }
        }
    }
}

/// A column that is not negative.
fn number(row: &SqliteRow, column: &str) -> Result<u64> {
    let value: i64 = row.try_get(column)?;
    u64::try_from(value).map_err(|_| LedgerError::Corrupt(format!("{column} is {value}")))
}

/// The end of the range of all texts that begin like this. Unlike LIKE, it has no wildcards and uses the index.
fn range_end(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}
