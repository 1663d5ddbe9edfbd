//! The ledger: every event of every review, in one SQLite file that several processes may use at once.
//!
//! `events` is the truth; a [`Review`] is the fold of its stream. Everything else is written in the same
//! transaction and computed from that fold, for quick reading. Writers begin by locking ([`Transaction`]), so
//! a decision made on what was read still holds when it is recorded; readers never wait for them. Each event
//! carries a hash over itself and the one before it, and is checked whenever it is read.

mod append;
mod calls;
mod chain;
mod entry;
mod error;
mod feed;
mod holder;
mod notes;
mod open;
mod projection;
mod rulings;
mod schema;
mod transaction;
mod verify;
mod watch;

pub use calls::{Call, CallState, Cost, MAX_REPLY_BYTES, Report, Scope};
pub use entry::Entry;
pub use error::LedgerError;
pub use feed::Recorded;
pub use holder::{Holder, is_alive, process_of};
pub use notes::Note;
pub use open::LEDGER_FILE;
pub use projection::{Count, Row};
pub use schema::FORMAT;
pub use transaction::{Draft, Transaction};
pub use watch::Watcher;

use countersign_core::ids::{CallId, ReviewId, Subject};
use countersign_core::plan::Candidate;
use countersign_core::review::{Known, Review};
use entry::{Line, lines};
use open::{Access, BUSY_SECONDS};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, SqlitePool};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Mutex;

/// How many readers work at the same time in one process.
const MAX_READERS: u32 = 4;
/// How many matches of a prefix are named.
pub const MAX_MATCHES: u32 = 16;

/// The ledger of a project.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    dir: PathBuf,
    access: Access,
    /// Which file was opened. SQLite goes on writing to one that has lost its name.
    file: Option<(u64, u64)>,
    readers: SqlitePool,
    /// At most one transaction at a time in this process; the connection rests here in between.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    changes: tokio::sync::watch::Sender<u64>,
    poller: Mutex<Weak<watch::Poller>>,
}

/// A review as it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The fold of its events.
    pub review: Review,
    /// How many events that is.
    pub n: u64,
    /// The process that does what is due.
    pub holder: Option<String>,
    /// When its first event was recorded.
    pub opened_ms: i64,
    /// When its last event was recorded.
    pub changed_ms: i64,
}

/// Which reviews to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Only those that are not over.
    pub open_only: bool,
    /// Only those opened before this one: the [`Row::opened_seq`] of the last row of the page before.
    pub before: Option<u64>,
    /// The most rows of a page.
    pub limit: u32,
}

impl Ledger {
    /// Opens the ledger in this folder; makes the folder and the ledger where there are none.
    pub async fn open(dir: &Path) -> Result<Self, LedgerError> {
        let writer = open::writer(dir).await.map_err(|error| error.at(dir))?;
        Ok(Self::new(dir, Access::Write, Some(writer)))
    }

    /// Keeps the ledger's folder out of git's sight, where there is one.
    pub fn hide(dir: &Path) -> Result<(), LedgerError> {
        if dir.is_dir() { open::ignore_by_git(dir) } else { Ok(()) }
    }

    /// Whether there is a ledger in this folder.
    pub fn is_in(dir: &Path) -> bool {
        open::file(dir).symlink_metadata().is_ok()
    }

    /// Makes the ledger's folder and nothing in it, for those who keep something beside the ledger.
    pub fn make_folder(dir: &Path) -> Result<(), LedgerError> {
        open::make_folder(dir)
    }

    /// Opens the ledger in this folder if there is one; makes nothing, and reads also where nothing may be
    /// written.
    pub async fn open_existing(dir: &Path) -> Result<Option<Self>, LedgerError> {
        let Some(access) = open::look(dir)? else { return Ok(None) };
        let ledger = Self::new(dir, access, None);
        let mut reader = ledger.reader().await.map_err(|error| error.at(dir))?;
        let found = schema::inspect(&mut reader).await.map_err(|error| error.at(dir))?;
        drop(reader);
        if found == schema::Found::Older && access == Access::Write {
            open::writer(dir).await.map_err(|error| error.at(dir))?;
        }
        Ok((found != schema::Found::Empty).then_some(ledger))
    }

    fn new(dir: &Path, access: Access, writer: Option<SqliteConnection>) -> Self {
        // Connections to a file do not grow old, and a broken one says so when it is used.
        let readers = SqlitePoolOptions::new()
            .max_connections(MAX_READERS)
            .acquire_timeout(Duration::from_secs(BUSY_SECONDS))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(open::options(dir, access));
        Self(Arc::new(Inner {
            dir: dir.to_owned(),
            access,
            file: open::identity(dir),
            readers,
            writer: Arc::new(Mutex::new(writer)),
            changes: tokio::sync::watch::Sender::new(0),
            poller: Mutex::new(Weak::new()),
        }))
    }

    /// The folder it is in.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Begins to write; waits for other writers.
    pub async fn transaction(&self) -> Result<Transaction, LedgerError> {
        if self.0.access != Access::Write {
            return Err(LedgerError::ReadOnly("it was opened for reading only".to_owned()));
        }
        self.require_in_place()?;
        let mut slot = Arc::clone(&self.0.writer).lock_owned().await;
        let begun = async {
            let connection = match slot.take() {
                Some(connection) => connection,
                None => open::options(self.dir(), Access::Write).connect().await?,
            };
            Transaction::begin(self.clone(), slot, connection).await
        };
        begun.await.map_err(|error: LedgerError| error.at(self.dir()))
    }

    /// A review; none where nothing is recorded under this id.
    pub async fn review(&self, id: &ReviewId) -> Result<Option<Stored>, LedgerError> {
        entry::load(&mut *self.reader().await?, id).await
    }

    /// Whether this is still what is recorded of a review, without reading all of it.
    pub async fn is_current(&self, known: &Stored) -> Result<bool, LedgerError> {
        let now = projection::head(&mut *self.reader().await?, &known.review.id).await?;
        Ok(now == Some((known.n, known.holder.clone())))
    }

    /// The latest review of a subject.
    pub async fn latest_for(&self, subject: &Subject) -> Result<Option<Stored>, LedgerError> {
        let mut reader = self.reader().await?;
        match projection::latest_for(&mut reader, subject).await? {
            None => Ok(None),
            Some(id) => entry::load(&mut reader, &id).await,
        }
    }

    /// The subjects of a door whose last part this is; at most [`MAX_MATCHES`].
    pub async fn subjects_of(&self, door: &str, last: &str) -> Result<Vec<Subject>, LedgerError> {
        projection::subjects_of(&mut *self.reader().await?, door, last, MAX_MATCHES).await
    }

    /// The rulings of these candidates that stand beyond their review: failures, and what passed at
    /// `passed_since_ms` or later.
    pub async fn rulings(
        &self,
        candidates: impl IntoIterator<Item = &Candidate>,
        passed_since_ms: i64,
    ) -> Result<Vec<Known>, LedgerError> {
        rulings::look_up(&mut *self.reader().await?, candidates, passed_since_ms).await
    }

    /// The reviews whose id begins like this, with or without `rv-`; at most [`MAX_MATCHES`].
    pub async fn find(&self, prefix: &str) -> Result<Vec<ReviewId>, LedgerError> {
        let typed = prefix.trim().to_ascii_lowercase();
        let letters = typed.strip_prefix(ReviewId::PREFIX).unwrap_or(&typed);
        if letters.is_empty() {
            return Ok(vec![]);
        }
        let prefix = format!("{}{letters}", ReviewId::PREFIX);
        projection::find(&mut *self.reader().await?, &prefix, MAX_MATCHES).await
    }

    /// A page of reviews, newest first.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Row>, LedgerError> {
        projection::list(&mut *self.reader().await?, filter).await
    }

    /// The same for one subject.
    pub async fn list_for(&self, subject: &Subject, filter: Filter) -> Result<Vec<Row>, LedgerError> {
        projection::list_for(&mut *self.reader().await?, subject, filter).await
    }

    /// How many reviews stand how.
    pub async fn counts(&self) -> Result<Vec<Count>, LedgerError> {
        projection::counts(&mut *self.reader().await?).await
    }

    /// The calls of a review, in the order they were asked.
    pub async fn calls(&self, review: &ReviewId) -> Result<Vec<Call>, LedgerError> {
        calls::of(&mut *self.reader().await?, review).await
    }

    /// Whether a call is under way: asked, not answered, and the process that performs its review is alive.
    pub async fn is_under_way(&self, call: &CallId) -> Result<bool, LedgerError> {
        let asked = calls::asked(&mut *self.reader().await?, call).await?;
        Ok(match asked {
            Some((true, Some(holder))) => is_alive(self.dir(), &holder),
            Some((open, None)) => open,
            Some((false, _)) | None => false,
        })
    }

    /// What the questions of reviewers cost, asked at `since_ms` or later, the dearest first.
    pub async fn costs(&self, since_ms: i64) -> Result<Vec<Cost>, LedgerError> {
        calls::costs(&mut *self.reader().await?, since_ms).await
    }

    /// The events of a review after its `after_n`-th.
    pub async fn events(&self, id: &ReviewId, after_n: u64, limit: u32) -> Result<Vec<Entry>, LedgerError> {
        const SQL: &str = lines!("WHERE e.stream = $1 AND e.n > $2 ORDER BY e.n LIMIT $3");
        let query = sqlx::query(SQL).bind(id.as_str()).bind(after_n.cast_signed()).bind(limit);
        entries(&query.fetch_all(&mut *self.reader().await?).await?)
    }

    /// What is recorded in a door's own stream.
    pub async fn notes(&self, stream: &str) -> Result<Vec<Note>, LedgerError> {
        notes::of(&mut *self.reader().await?, stream).await
    }

    /// The doors' own streams whose names begin like this, the one that changed last first.
    pub async fn streams(&self, prefix: &str, limit: u32) -> Result<Vec<String>, LedgerError> {
        notes::named(&mut *self.reader().await?, prefix, limit).await
    }

    /// The latest events of all reviews, newest first; with `before` those before that number.
    pub async fn recent(&self, before: Option<u64>, limit: u32) -> Result<Vec<Entry>, LedgerError> {
        const SQL: &str = lines!("WHERE e.seq < $1 AND e.stream LIKE 'rv-%' ORDER BY e.seq DESC LIMIT $2");
        let query = sqlx::query(SQL).bind(before.map_or(i64::MAX, u64::cast_signed)).bind(limit);
        entries(&query.fetch_all(&mut *self.reader().await?).await?)
    }

    /// The events of all reviews after this number, oldest first: what a watcher reads.
    pub async fn since(&self, after: u64, limit: u32) -> Result<Vec<Entry>, LedgerError> {
        const SQL: &str = lines!("WHERE e.seq > $1 AND e.stream LIKE 'rv-%' ORDER BY e.seq LIMIT $2");
        let query = sqlx::query(SQL).bind(after.cast_signed()).bind(limit);
        entries(&query.fetch_all(&mut *self.reader().await?).await?)
    }

    /// Everything recorded after this number, of reviews and of doors, oldest first. Nothing means that there is
    /// nothing yet: a file that lost its name has nothing to come.
    pub async fn feed(&self, after: u64, limit: u32) -> Result<Vec<Recorded>, LedgerError> {
        let page = feed::after(&mut *self.reader().await?, after, limit).await?;
        if page.is_empty() {
            self.require_in_place()?;
        }
        Ok(page)
    }

    /// The number of the last event; 0 where there is none.
    pub async fn last_seq(&self) -> Result<u64, LedgerError> {
        feed::last(&mut *self.reader().await?).await
    }

    /// Watches for changes, by this process and by others.
    pub async fn watch(&self) -> Result<Watcher, LedgerError> {
        Watcher::new(self).await
    }

    /// Checks every event and every review; returns how many events there are.
    pub async fn verify(&self) -> Result<u64, LedgerError> {
        // A connection of its own, because it holds on to one state of the file for as long as it takes.
        let mut connection = open::options(self.dir(), self.0.access).connect().await?;
        let events = verify::all(&mut connection).await?;
        connection.close().await?;
        Ok(events)
    }

    /// Closes the file in order, which leaves nothing beside it. Without it nothing is lost either.
    pub async fn close(self) {
        if let Some(connection) = self.0.writer.lock().await.take() {
            // The next one to open it tidies up instead.
            connection.close().await.ok();
        }
        self.0.readers.close().await;
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, LedgerError> {
        Ok(self.0.readers.acquire().await?)
    }

    /// Whether what is written is what others read.
    fn require_in_place(&self) -> Result<(), LedgerError> {
        if open::identity(self.dir()) == self.0.file { Ok(()) } else { Err(LedgerError::Replaced) }
    }

    /// Which file was opened.
    fn file(&self) -> Option<(u64, u64)> {
        self.0.file
    }

    fn changes(&self) -> &tokio::sync::watch::Sender<u64> {
        &self.0.changes
    }

    fn tell_watchers(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }

    async fn poller(&self) -> Result<Arc<watch::Poller>, LedgerError> {
        let mut known = self.0.poller.lock().await;
        if let Some(poller) = known.upgrade() {
            return Ok(poller);
        }
        let poller = Arc::new(watch::Poller::start(self, self.0.access).await?);
        *known = Arc::downgrade(&poller);
        Ok(poller)
    }
}

fn entries(rows: &[sqlx::sqlite::SqliteRow]) -> Result<Vec<Entry>, LedgerError> {
    rows.iter().map(|row| Line::read(row)?.entry()).collect()
}
