//! The ledger: every event of every review, in a store.
//!
//! A [`Review`] is the fold of its events. Everything else is computed from that fold and written in the same
//! transaction, for quick reading. Writers begin by locking ([`Transaction`]), so a decision made on what was read still
//! holds when it is recorded; readers never wait for them. Each event carries a hash over itself and the one before it,
//! and is checked whenever it is read.
//!
//! The events are kept in a store (`store.rs`): a SQLite file that several processes share, or memory. What is recorded
//! and what it means is the same in both, and is written here once.

mod calls;
mod chain;
mod entry;
mod error;
mod export;
mod failures;
mod folder;
mod head;
mod import;
mod memory;
mod projection;
mod prune;
mod reused;
mod rulings;
mod sqlite;
mod store;
mod transaction;
mod verify;

use countersign_core::ids::{CallId, ReviewId, Subject};
use countersign_core::plan::{Assignment, Candidate};
use countersign_core::review::{Actor, Known, Review, Standing};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use error::Result;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use store::{Kept, Lines, Rows, Session, Store};
use tokio::sync::watch;

pub use calls::{Call, CallState, Cost, MAX_REPLY_BYTES, Report, Scope};
pub use entry::{Entry, Note, Recorded};
pub use error::LedgerError;
pub use export::Totals;
pub use head::HeadFile;
pub use import::Import;
pub use projection::{Count, Row};
pub use prune::{Order, Pruned, Pruning};
pub use sqlite::{FORMAT, LEDGER_FILE, OUTSIDE_OF_GIT};
pub use transaction::{Draft, Transaction};

pub const MAX_MATCHES: u32 = 16;
/// How many rows the record of a rebuilding names.
const MAX_REBUILT_ROWS: u32 = 1000;

#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    store: Store,
    changes: tokio::sync::watch::Sender<u64>,
    /// Where its head is kept, if it is.
    head: OnceLock<HeadFile>,
    /// The hash of the first event, as text.
    first: OnceLock<String>,
    /// The path of the project in its repository; empty at its root.
    project: OnceLock<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub review: Review,
    /// How many events that is.
    pub n: u64,
    /// The process that does what is due.
    pub holder: Option<String>,
    pub opened_ms: i64,
    pub changed_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Only those that are not over.
    pub open_only: bool,
    /// Only those opened before this one: the [`Row::opened_seq`] of the last row of the page before.
    pub before: Option<u64>,
    pub limit: u32,
}

impl Ledger {
    /// Opens the ledger in this folder; makes the folder and the ledger where there are none.
    pub async fn open(dir: &Path) -> Result<Self> {
        Self::new(Store::Sqlite(sqlite::Sqlite::open(dir).await?)).completed().await
    }

    /// A new ledger in memory. It ends with its last copy, and leaves no file.
    pub fn in_memory() -> Self {
        Self::new(Store::Memory(memory::Memory::default()))
    }

    /// Whether what is written to it is there for others, and after the end of this process.
    pub fn is_kept(&self) -> bool {
        !matches!(self.0.store, Store::Memory(_))
    }

    /// Opens the ledger in this folder if there is one; makes nothing, and reads also where writing is not allowed.
    pub async fn open_existing(dir: &Path) -> Result<Option<Self>> {
        match sqlite::Sqlite::open_existing(dir).await? {
            Some(store) => Ok(Some(Self::new(Store::Sqlite(store)).completed().await?)),
            None => Ok(None),
        }
    }

    /// Computes the index of rulings anew where an earlier version wrote it by other rules, and it may be written.
    async fn completed(self) -> Result<Self> {
        if self.0.store.is_writable() && !self.read().await?.is_indexed().await? {
            let mut session = self.0.store.write().await?;
            if !session.is_indexed().await? {
                verify::replay(&mut session, &mut |_, _| {}).await?;
                session.take_rulings().await?;
                session.commit().await?;
            }
        }
        Ok(self)
    }

    fn new(store: Store) -> Self {
        let changes = tokio::sync::watch::Sender::new(0);
        let (head, first, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self(Arc::new(Inner { store, changes, head, first, project }))
    }

    pub fn dir(&self) -> Option<&Path> {
        self.0.store.dir()
    }

    /// Begins to write; waits for other writers.
    pub async fn transaction(&self) -> Result<Transaction> {
        let session = Some(self.0.store.write().await?);
        Ok(Transaction { ledger: self.clone(), session, last: None })
    }

    /// This process under a name of its own, for as long as the returned value is kept.
    pub fn holder(&self) -> Result<Holder> {
        let (id, lease) = self.0.store.lease()?;
        Ok(Holder { id, _lease: lease })
    }

    pub fn is_alive(&self, holder: &str) -> bool {
        self.0.store.is_alive(holder)
    }

    /// The process behind a name, where that is known.
    pub fn process_of(&self, holder: &str) -> Option<u32> {
        self.0.store.process_of(holder)
    }

    /// A review; none where nothing is recorded under this id.
    pub async fn review(&self, id: &ReviewId) -> Result<Option<Stored>> {
        entry::load(&mut self.read().await?, id).await
    }

    /// Whether this is still what is recorded of a review, without reading all of it.
    pub async fn is_current(&self, known: &Stored) -> Result<bool> {
        let row = self.read().await?.rows(Rows::Of(&known.review.id)).await?.pop();
        Ok(row.is_some_and(|row| (row.n, &row.holder) == (known.n, &known.holder)))
    }

    /// Says which project of the repository this is, by its path: from now on its subjects are meant.
    pub fn set_project(&self, path: &str) {
        self.0.project.set(path.to_owned()).ok();
    }

    /// A subject of this project, as the ledger has it.
    pub fn own(&self, subject: &Subject) -> Subject {
        subject.of_project(self.0.project.get().map_or("", String::as_str))
    }

    pub async fn latest_for(&self, subject: &Subject) -> Result<Option<Stored>> {
        transaction::latest_for(&mut self.read().await?, &self.own(subject)).await
    }

    /// The subjects of a door whose last part this is; at most [`MAX_MATCHES`].
    pub async fn subjects_of(&self, door: &str, last: &str) -> Result<Vec<Subject>> {
        let ending = Subject::new("", [last]);
        let found = self.read().await?.subjects(door, ending.as_str(), MAX_MATCHES).await?;
        let found = found.into_iter().map(Subject::from_text);
        let own = self.own(&ending);
        Ok(found.filter(|subject| subject.project() == own.project()).collect())
    }

    /// The rulings of these candidates that stand beyond their review: failures, and passes since `passed_since_ms`.
    pub async fn rulings(
        &self,
        candidates: impl IntoIterator<Item = &Candidate>,
        passed_since_ms: i64,
    ) -> Result<Vec<Known>> {
        rulings::look_up(&mut self.read().await?, candidates, passed_since_ms).await
    }

    /// What stands on these assignments of a submission: failures, and what disputes left of them.
    pub async fn standing(
        &self,
        rules: &[Rule],
        submission: &Submission,
        assignments: impl IntoIterator<Item = &Assignment>,
    ) -> Result<Vec<Standing>> {
        failures::look_up(&mut self.read().await?, rules, submission, assignments).await
    }

    /// The reviews whose id begins like this, with or without `rv-`; at most [`MAX_MATCHES`].
    pub async fn find(&self, prefix: &str) -> Result<Vec<ReviewId>> {
        let Some(prefix) = beginning(prefix) else { return Ok(vec![]) };
        let found = self.read().await?.ids(&prefix, MAX_MATCHES).await?;
        Ok(found.into_iter().map(ReviewId::from_text).collect())
    }

    /// A page of reviews, newest first.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Row>> {
        self.read().await?.rows(Rows::Page(filter)).await
    }

    pub async fn list_for(&self, subject: &Subject, filter: Filter) -> Result<Vec<Row>> {
        self.read().await?.rows(Rows::PageFor(&self.own(subject), filter)).await
    }

    /// Reviews that were stopped and that a person can let go on, newest first.
    pub async fn stopped(&self, limit: u32) -> Result<Vec<Row>> {
        self.read().await?.rows(Rows::Stopped(limit)).await
    }

    pub async fn counts(&self) -> Result<Vec<Count>> {
        self.read().await?.counts().await
    }

    pub async fn calls(&self, review: &ReviewId) -> Result<Vec<Call>> {
        self.read().await?.calls(review).await
    }

    /// Whether a call is under way: asked, not answered, and the process that performs its review is alive.
    pub async fn is_under_way(&self, call: &CallId) -> Result<bool> {
        let mut session = self.read().await?;
        let Some((CallState::Asked, stream)) = session.call(call).await? else { return Ok(false) };
        // No holder is on record for the stream of a door.
        if !stream.starts_with(ReviewId::PREFIX) {
            return Ok(true);
        }
        let row = session.rows(Rows::Of(&ReviewId::from_text(stream))).await?.pop();
        Ok(row.and_then(|row| row.holder).is_some_and(|holder| self.is_alive(&holder)))
    }

    /// What the questions of reviewers cost, asked at `since_ms` or later, the dearest first.
    pub async fn costs(&self, since_ms: i64) -> Result<Vec<Cost>> {
        calls::costs(&mut self.read().await?, since_ms).await
    }

    /// The events of a review after its `after_n`-th.
    pub async fn events(&self, id: &ReviewId, after_n: u64, limit: u32) -> Result<Vec<Entry>> {
        self.entries(Lines::Stream(id.as_str(), after_n), limit).await
    }

    /// What is recorded in a door's own stream.
    pub async fn notes(&self, stream: &str) -> Result<Vec<Note>> {
        entry::notes(&mut self.read().await?, stream).await
    }

    /// The last of them.
    pub async fn last_note(&self, stream: &str) -> Result<Option<Note>> {
        entry::last_note(&mut self.read().await?, stream).await
    }

    /// The doors' own streams whose names begin like this, the one that changed last first.
    pub async fn streams(&self, prefix: &str, limit: u32) -> Result<Vec<String>> {
        self.read().await?.streams(prefix, limit).await
    }

    /// The latest events of all reviews, newest first; with `before` those before that number.
    pub async fn recent(&self, before: Option<u64>, limit: u32) -> Result<Vec<Entry>> {
        self.entries(Lines::ReviewsBefore(before.unwrap_or(u64::MAX)), limit).await
    }

    /// The events of all reviews after this number, oldest first: what a watcher reads.
    pub async fn since(&self, after: u64, limit: u32) -> Result<Vec<Entry>> {
        self.entries(Lines::ReviewsAfter(after), limit).await
    }

    async fn entries(&self, which: Lines<'_>, limit: u32) -> Result<Vec<Entry>> {
        let mut session = self.read().await?;
        let mut lines = session.lines(which, limit).await?;
        if let (Lines::Stream(stream, _), Some(line)) = (which, lines.iter().find(|line| line.is_pruned())) {
            return Err(prune::pruned(&mut session, stream, line).await?);
        }
        // An import has the marks of its own ledger.
        lines.retain(|line| !line.is_pruned() && !import::is_mark(line));
        let events = reused::events(&mut session, &lines).await?;
        lines.into_iter().zip(events).map(|(line, event)| line.entry(event)).collect()
    }

    /// Everything recorded after this number, oldest first. Nothing means nothing yet: a replaced file is an error.
    pub async fn feed(&self, after: u64, limit: u32) -> Result<Vec<Recorded>> {
        let page = async { self.read().await?.feed(after, limit).await }.await;
        // A file that was moved away may also fail to be read.
        if !page.as_ref().is_ok_and(|page| !page.is_empty()) {
            self.0.store.require_in_place()?;
        }
        let page = page?;
        let shown = page.into_iter().filter(|(line, _)| !line.is_pruned());
        shown.map(|(line, subject)| line.recorded(subject)).collect()
    }

    /// The number of the last event; 0 where there is none.
    pub async fn last_seq(&self) -> Result<u64> {
        Ok(self.read().await?.end("").await?.seq)
    }

    /// Watches for changes, by this process and by others.
    pub async fn watch(&self) -> Result<Watcher> {
        let receiver = self.0.changes.subscribe();
        Ok(Watcher { receiver, _follows: self.0.store.follow(&self.0.changes).await? })
    }

    /// Checks every event, every verdict and every table; returns how many events there are.
    pub async fn verify(&self) -> Result<u64> {
        self.verify_telling(&mut |_, _| {}).await
    }

    /// The same; tells how many events of how many are checked.
    pub async fn verify_telling(&self, tell: &mut (dyn FnMut(u64, u64) + Send)) -> Result<u64> {
        verify::all(self.0.store.snapshot().await?, tell).await
    }

    /// Computes the tables again from the events, where they differ; returns where they did. Records who had it done.
    pub async fn rebuild(&self, by: &Actor, at_ms: i64) -> Result<Vec<String>> {
        const STREAM: &str = "ledger/rebuilt";
        let mut session = self.0.store.write().await?;
        let (_, differences) = verify::compared(&mut session, &mut |_, _| {}, MAX_REBUILT_ROWS).await?;
        if differences.is_empty() {
            return Ok(differences);
        }
        session.take_tables().await?;
        let end = session.end(STREAM).await?;
        let body = serde_json::json!({ "by": by, "rows": differences }).to_string();
        session.append(&entry::chained(end, STREAM, at_ms, vec![("rebuilt", body)])).await?;
        session.commit().await?;
        self.tell_watchers();
        Ok(differences)
    }

    /// Removes the events of old reviews, or says what would be removed. The chain of what stays can still be checked.
    pub async fn prune(&self, order: &Order<'_>, trial: bool) -> Result<Pruned> {
        let mut session = self.0.store.write().await?;
        let pruned = prune::prune(&mut session, order, &mut |_, _| {}).await?;
        if trial || pruned.reviews.is_empty() {
            return Ok(pruned);
        }
        session.commit().await?;
        self.tell_watchers();
        self.0.store.shrink().await?;
        Ok(pruned)
    }

    /// The prunings on record, in order, each with the number of its event.
    pub async fn prunings(&self) -> Result<Vec<(u64, Pruning)>> {
        let mut session = self.read().await?;
        let mut all = vec![];
        for line in session.lines(Lines::Stream(prune::STREAM, 0), u32::MAX).await? {
            line.check()?;
            all.extend(prune::read(&line)?.map(|pruning| (line.seq, pruning)));
        }
        Ok(all)
    }

    /// Writes a copy into a new file, and checks all of it; returns how many events it has.
    pub async fn backup(&self, file: &Path) -> Result<u64> {
        match export::backup(&self.0.store, file).await {
            Ok(events) => Ok(events),
            Err(error) => Err(self.0.store.explained(error).await),
        }
    }

    /// Writes every event and every call as lines of JSON.
    pub async fn export(&self, to: &mut (dyn Write + Send)) -> Result<Totals> {
        let mut session = self.0.store.snapshot().await?;
        let totals = export::export(&mut session, to).await?;
        session.commit().await?;
        Ok(totals)
    }

    /// Adds the events of an export, under names that no review has: they are shown, and count for nothing.
    pub async fn import(
        &self,
        from: &mut (dyn BufRead + Send),
        name: &str,
        by: &Actor,
        at_ms: i64,
    ) -> Result<Import> {
        let mut session = self.0.store.write().await?;
        let imported = import::import(&mut session, from, name, by, at_ms).await?;
        session.commit().await?;
        self.tell_watchers();
        Ok(imported)
    }

    pub async fn imports(&self) -> Result<Vec<Import>> {
        import::imports(&mut self.read().await?).await
    }

    /// The imported reviews whose ids begin like this, with or without `rv-`; of each import at most [`MAX_MATCHES`].
    pub async fn find_imported(&self, prefix: &str) -> Result<Vec<(Import, ReviewId)>> {
        let Some(prefix) = beginning(prefix) else { return Ok(vec![]) };
        import::find(&mut self.read().await?, &prefix, MAX_MATCHES).await
    }

    /// The reviews of an import, the one that changed last first; their ids are those of their ledger.
    pub async fn imported(&self, import: &Import, limit: u32) -> Result<Vec<Row>> {
        import::rows(&mut self.read().await?, import, limit).await
    }

    /// The events of an imported review.
    pub async fn imported_events(
        &self,
        import: &Import,
        id: &ReviewId,
        after_n: u64,
        limit: u32,
    ) -> Result<Vec<Entry>> {
        self.entries(Lines::Stream(&import.stream(id.as_str()), after_n), limit).await
    }

    /// Closes the store in order. Without it nothing is lost either.
    pub async fn close(self) {
        self.0.store.close().await;
    }

    async fn read(&self) -> Result<Session> {
        self.0.store.read().await
    }

    fn tell_watchers(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }
}

/// The beginning of an id, as a person types it.
fn beginning(typed: &str) -> Option<String> {
    let typed = typed.trim().to_ascii_lowercase();
    let letters = typed.strip_prefix(ReviewId::PREFIX).unwrap_or(&typed);
    (!letters.is_empty()).then(|| format!("{}{letters}", ReviewId::PREFIX))
}

/// Tells when something may have changed. Make it first, then read, then wait: so nothing is missed.
pub struct Watcher {
    receiver: watch::Receiver<u64>,
    _follows: Kept,
}

impl Watcher {
    /// Waits until something may have changed. What can no longer be read counts as changed: the next read says why.
    pub async fn changed(&mut self) {
        // Without a ledger nothing changes any more.
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A name of this process, for as long as it is kept.
pub struct Holder {
    id: String,
    _lease: Kept,
}

impl Holder {
    /// The name other processes ask about.
    pub fn id(&self) -> &str {
        &self.id
    }
}
