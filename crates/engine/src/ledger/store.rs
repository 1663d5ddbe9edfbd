//! The interface of stores. A store keeps and finds, and computes nothing: how events are chained, what the row of a
//! review says and which rulings stand is decided once, in the modules beside this one.
//!
//! Another store is a module like `memory.rs` with the methods of [`Session`] and of [`Store`], and an arm in each of
//! the two. Every store passes the tests in `tests/it/ledger/conformance`. What they rely on:
//!
//! - A writing session sees what it wrote. Others see it after `commit`, all at once; without it nothing stays.
//! - One session writes at a time: what it has read still holds when it commits.
//! - A reading session sees what was committed before, and does not wait for writers. A snapshot sees one state.
//! - A second event of the same stream and number, and a second open review of a subject, are a conflict.

use super::calls::{Call, CallRow, CallState, Report, Scope, StartedCall};
use super::entry::Line;
use super::projection::{Count, Row};
use super::{Filter, LedgerError, Result, memory, sqlite};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId, Subject};
use std::any::Any;
use std::path::Path;
use tokio::sync::watch;

/// Something that lasts for as long as it is kept.
pub(super) type Kept = Box<dyn Any + Send + Sync>;

pub(super) enum Store {
    Sqlite(sqlite::Sqlite),
    Memory(memory::Memory),
}

pub(super) enum Session {
    Sqlite(sqlite::Session),
    Memory(memory::Session),
}

pub(super) struct End {
    pub n: u64,
    /// The number of the ledger's last event.
    pub seq: u64,
    /// The hash of the ledger's last event.
    pub link: Option<Vec<u8>>,
}

/// All events of a review, and what its row says at that moment.
pub(super) struct Stream {
    pub lines: Vec<Line>,
    /// How many events the row counts; none where there is no row.
    pub known: Option<u64>,
    pub holder: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Lines<'a> {
    /// Of a stream after its n-th, in order.
    Stream(&'a str, u64),
    Last(&'a str),
    /// After a number, in order.
    After(u64),
    /// Of reviews after a number, in order.
    ReviewsAfter(u64),
    /// Of reviews before a number, newest first.
    ReviewsBefore(u64),
}

#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    Of(&'a ReviewId),
    Latest(&'a Subject),
    /// A page, newest first.
    Page(Filter),
    /// A page of a subject, newest first.
    PageFor(&'a Subject, Filter),
    /// In the order of their ids, after this one.
    ById(&'a str, u32),
    /// That were stopped and that a person can let go on, newest first.
    Stopped(u32),
}

impl Store {
    pub(super) async fn read(&self) -> Result<Session> {
        match self {
            Self::Sqlite(store) => store.read().await.map(Session::Sqlite),
            Self::Memory(store) => store.read().map(Session::Memory),
        }
    }

    /// Reads one state throughout, whatever others write meanwhile.
    pub(super) async fn snapshot(&self) -> Result<Session> {
        match self {
            Self::Sqlite(store) => store.snapshot().await.map(Session::Sqlite),
            Self::Memory(store) => store.read().map(Session::Memory),
        }
    }

    pub(super) async fn write(&self) -> Result<Session> {
        match self {
            Self::Sqlite(store) => store.write().await.map(Session::Sqlite),
            Self::Memory(store) => store.write().await.map(Session::Memory),
        }
    }

    /// Tells of what other processes commit for as long as the returned value is kept.
    pub(super) async fn follow(&self, changes: &watch::Sender<u64>) -> Result<Kept> {
        match self {
            Self::Sqlite(store) => Ok(Box::new(store.follow(changes).await?)),
            Self::Memory(_) => Ok(Box::new(())),
        }
    }

    /// A lease: a name, and what keeps it alive.
    pub(super) fn lease(&self) -> Result<(String, Kept)> {
        match self {
            Self::Sqlite(store) => {
                let lease = sqlite::Lease::new(store.dir())?;
                Ok((lease.id.clone(), Box::new(lease)))
            }
            Self::Memory(store) => store.lease(),
        }
    }

    pub(super) fn is_alive(&self, lease: &str) -> bool {
        match self {
            Self::Sqlite(store) => sqlite::is_alive(store.dir(), lease),
            Self::Memory(store) => store.is_alive(lease),
        }
    }

    pub(super) fn process_of(&self, lease: &str) -> Option<u32> {
        self.sqlite().and_then(|store| sqlite::process_of(store.dir(), lease))
    }

    pub(super) fn dir(&self) -> Option<&Path> {
        self.sqlite().map(sqlite::Sqlite::dir)
    }

    pub(super) fn is_writable(&self) -> bool {
        self.sqlite().is_none_or(sqlite::Sqlite::is_writable)
    }

    /// Whether what is written is what others read.
    pub(super) fn require_in_place(&self) -> Result<()> {
        self.sqlite().map_or(Ok(()), sqlite::Sqlite::require_in_place)
    }

    /// An error with its cause, where the store can find that out.
    pub(super) async fn explained(&self, error: LedgerError) -> LedgerError {
        match self.sqlite() {
            Some(store) => sqlite::explained(error, store.dir()).await,
            None => error,
        }
    }

    /// Writes a copy of one state into a new file.
    pub(super) async fn copy_to(&self, file: &Path) -> Result<()> {
        match self {
            Self::Sqlite(store) => store.copy_to(file).await,
            Self::Memory(_) => Err(LedgerError::Other("a ledger in memory has no file".to_owned())),
        }
    }

    /// Gives the room of removed bodies back to the disk.
    pub(super) async fn shrink(&self) -> Result<()> {
        match self.sqlite() {
            Some(store) => store.shrink().await,
            None => Ok(()),
        }
    }

    pub(super) async fn close(&self) {
        if let Some(store) = self.sqlite() {
            store.close().await;
        }
    }

    fn sqlite(&self) -> Option<&sqlite::Sqlite> {
        match self {
            Self::Sqlite(store) => Some(store),
            Self::Memory(_) => None,
        }
    }
}

impl Session {
    /// Ends it; what was written stays, also after a loss of power.
    pub(super) async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(session) => session.commit().await,
            Self::Memory(session) => session.commit(),
        }
    }
}

/// The methods of a session, each the same for every store.
macro_rules! methods {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        impl Session {$(
            $(#[$doc])*
            pub(super) async fn $name(&mut self, $($arg: $type),*) -> Result<$out> {
                match self {
                    Self::Sqlite(session) => match session.$name($($arg),*).await {
                        Err(error) => Err(session.explained(error).await),
                        done => done,
                    },
                    Self::Memory(session) => session.$name($($arg),*),
                }
            }
        )*}
    };
}

methods! {
    fn end(stream: &str) -> End;
    /// The highest number ever given to an event.
    fn highest() -> u64;
    /// Events, each with the hash of the one before it.
    fn lines(which: Lines<'_>, limit: u32) -> Vec<Line>;
    /// All events of a review, and what its row says at that moment.
    fn stream(id: &ReviewId) -> Stream;
    /// Events after a number, each with the subject of its review.
    fn feed(after: u64, limit: u32) -> Vec<(Line, Option<String>)>;
    /// The streams whose names begin like this, the one that changed last first.
    fn streams(prefix: &str, limit: u32) -> Vec<String>;
    fn rows(which: Rows<'_>) -> Vec<Row>;
    /// The reviews whose ids begin like this, in order.
    fn ids(prefix: &str, limit: u32) -> Vec<String>;
    /// The subjects of a door that end like this, in order.
    fn subjects(door: &str, ending: &str, limit: u32) -> Vec<String>;
    fn counts() -> Vec<Count>;
    /// The events these entries of the index of rulings point to.
    fn rulings(under: &[String]) -> Vec<(String, Line)>;
    /// The calls of a review, in the order they were asked.
    fn calls(review: &ReviewId) -> Vec<Call>;
    /// Where a call stands, and the stream it belongs to.
    fn call(id: &CallId) -> Option<(CallState, String)>;
    /// What was spent at the most: what a call cost, or what was reserved for it where that is not known.
    fn spent(scope: Scope<'_>) -> Spending;
    /// The calls asked since then, each with when, without their replies where the store can leave them out.
    fn asked_since(since_ms: i64) -> Vec<(i64, Call)>;
    /// Appends events; their numbers follow the last one.
    fn append(events: &[Line]) -> ();
    /// Writes the row of a review. Its opening counts only where it has no row yet, and its holder does not count.
    fn put_row(row: &Row) -> ();
    /// Says who does what is due for a review; false where there is no such review.
    fn set_holder(id: &ReviewId, holder: Option<&str>) -> bool;
    fn put_ruling(under: &str, stream: &str, n: u64) -> ();
    /// Events by stream and number, as far as they are there.
    fn at(places: &[(String, u64)]) -> Vec<Line>;
    /// Entries of the index of rulings after this one, in order, with the events they point to.
    fn index_after(under: &str, limit: u32) -> Vec<(String, Line)>;
    /// Calls after this id, in order.
    fn calls_after(id: &str, limit: u32) -> Vec<CallRow>;
    /// Puts `mark` in place of the bodies of a review, but for these events, and removes its replies.
    fn prune(stream: &str, kept: &[u64], mark: &str, record: u64) -> ();
    /// Whether the index of rulings was written by the rules of this version.
    fn is_indexed() -> bool;
    /// From now on the tables that are computed from events are empty ones beside those that are kept.
    fn begin_shadow() -> ();
    /// Where the kept tables and those computed since `begin_shadow` differ, in words; at most so many.
    fn differences(limit: u32) -> Vec<String>;
    /// Keeps the computed index of rulings, and ends the shadow.
    fn take_rulings() -> ();
    /// Keeps all computed tables, and ends the shadow. What is in no event stays: holders, costs and replies.
    fn take_tables() -> ();
    fn begin_calls(calls: &[StartedCall<'_>]) -> ();
    fn set_call(id: &CallId, state: CallState) -> ();
    /// Notes what a reviewer reported; false where there is no such call.
    fn report(id: &CallId, report: &Report) -> bool;
    /// Notes the most that a call may need.
    fn reserve(id: &CallId, worst: Spending) -> ();
}
