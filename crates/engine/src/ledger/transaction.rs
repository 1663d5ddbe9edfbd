//! Writing: one transaction at a time, begun before anything is read, so that what was read still holds when
//! it is written.

use super::append::{self, End};
use super::entry::load;
use super::projection::{self, Row};
use super::{Ledger, LedgerError, Note, Report, Scope, Stored, calls, notes, rulings};
use crate::fault::{Moment, perhaps_die};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId, Subject};
use countersign_core::plan::Candidate;
use countersign_core::review::{Event, Known, Review};
use sqlx::SqliteConnection;
use tokio::sync::OwnedMutexGuard;

/// A write transaction. Dropped without [`commit`](Self::commit), or after a failed write, nothing of it
/// stays.
///
/// The connection leaves its slot for as long as the transaction lasts and comes back after a successful
/// commit only. Closing it is the one way of rolling back that cannot fail half-way: SQLite itself ends a
/// transaction after some errors and keeps it after others.
pub struct Transaction {
    ledger: Ledger,
    slot: OwnedMutexGuard<Option<SqliteConnection>>,
    connection: Option<SqliteConnection>,
}

impl Transaction {
    pub(super) async fn begin(
        ledger: Ledger,
        slot: OwnedMutexGuard<Option<SqliteConnection>>,
        mut connection: SqliteConnection,
    ) -> Result<Self, LedgerError> {
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await?;
        Ok(Self { ledger, slot, connection: Some(connection) })
    }

    /// The latest review of a subject.
    pub async fn latest_for(&mut self, subject: &Subject) -> Result<Option<Stored>, LedgerError> {
        let connection = self.connection()?;
        match projection::latest_for(connection, subject).await? {
            None => Ok(None),
            Some(id) => load(connection, &id).await,
        }
    }

    /// A review; none where nothing is recorded under this id.
    pub async fn review(&mut self, id: &ReviewId) -> Result<Option<Stored>, LedgerError> {
        load(self.connection()?, id).await
    }

    /// Appends events to the stream of `from`, which is a review as it was read, or [`Stored::unopened`].
    /// Where more is recorded by now it is a [`LedgerError::Conflict`], and nothing was written.
    pub async fn append(
        &mut self,
        from: Stored,
        events: &[Event],
        at_ms: i64,
    ) -> Result<Stored, LedgerError> {
        let mut draft = self.draft(from, at_ms).await?;
        draft.add(events.to_vec());
        self.write(draft).await
    }

    /// Begins an append that is decided step by step: each on what the events before it made of the review.
    /// The same conflict as in [`append`](Self::append) shows here already.
    pub async fn draft(&mut self, from: Stored, at_ms: i64) -> Result<Draft, LedgerError> {
        let end = append::end(self.connection()?, from.review.id.as_str()).await?;
        if end.n != from.n {
            return Err(LedgerError::Conflict);
        }
        Ok(Draft { end, stored: from, events: vec![], at_ms })
    }

    /// Writes what was drafted.
    pub async fn write(&mut self, draft: Draft) -> Result<Stored, LedgerError> {
        if draft.events.is_empty() {
            return Ok(draft.stored);
        }
        let written = write(self.connection()?, draft).await;
        self.or_give_up(written)
    }

    /// Says which process does what is due for a review.
    pub async fn set_holder(&mut self, id: &ReviewId, holder: Option<&str>) -> Result<(), LedgerError> {
        const SQL: &str = "UPDATE reviews SET holder = $2 WHERE id = $1";
        let done = sqlx::query(SQL).bind(id.as_str()).bind(holder).execute(self.connection()?).await;
        match self.or_give_up(done.map_err(LedgerError::from))?.rows_affected() {
            0 => Err(LedgerError::Missing(format!("review {id}"))),
            _ => Ok(()),
        }
    }

    /// The rulings of these candidates that stand beyond their review: failures, and what passed at
    /// `passed_since_ms` or later.
    pub async fn rulings(
        &mut self,
        candidates: impl IntoIterator<Item = &Candidate>,
        passed_since_ms: i64,
    ) -> Result<Vec<Known>, LedgerError> {
        rulings::look_up(self.connection()?, candidates, passed_since_ms).await
    }

    /// Notes what a reviewer reported about a call.
    pub async fn record_call(&mut self, call: &CallId, report: &Report) -> Result<(), LedgerError> {
        let done = calls::report(self.connection()?, call, report).await;
        self.or_give_up(done)
    }

    /// Begins the call of a question that belongs to a door's stream, in place of a review.
    pub async fn begin_call(
        &mut self,
        stream: &str,
        call: &CallId,
        reviewer: &str,
        at_ms: i64,
    ) -> Result<(), LedgerError> {
        let done = calls::begin_for(self.connection()?, stream, call, reviewer, at_ms).await;
        self.or_give_up(done)
    }

    /// Ends such a call.
    pub async fn end_call(&mut self, call: &CallId, answered: bool) -> Result<(), LedgerError> {
        let done = calls::end(self.connection()?, call, answered).await;
        self.or_give_up(done)
    }

    /// What is recorded in a door's own stream.
    pub async fn notes(&mut self, stream: &str) -> Result<Vec<Note>, LedgerError> {
        notes::of(self.connection()?, stream).await
    }

    /// Appends to a door's own stream, of which `known` events are known, each a kind and a body. Where more is
    /// recorded by now it is a [`LedgerError::Conflict`], and nothing was written.
    pub async fn note(
        &mut self,
        stream: &str,
        known: u64,
        notes: &[(&str, String)],
        at_ms: i64,
    ) -> Result<(), LedgerError> {
        let end = append::end(self.connection()?, stream).await?;
        if end.n != known {
            return Err(LedgerError::Conflict);
        }
        let done = append::insert(self.connection()?, end, stream, at_ms, notes).await;
        self.or_give_up(done).map(|_| ())
    }

    /// The last event of a door's own stream.
    pub async fn last_note(&mut self, stream: &str) -> Result<Option<Note>, LedgerError> {
        notes::last(self.connection()?, stream).await
    }

    /// What was spent, at the most.
    pub async fn spent(&mut self, scope: Scope<'_>) -> Result<Spending, LedgerError> {
        calls::spent(self.connection()?, scope).await
    }

    /// Notes the most that a call may need.
    pub async fn reserve(&mut self, call: &CallId, worst: Spending) -> Result<(), LedgerError> {
        let done = calls::reserve(self.connection()?, call, worst).await;
        self.or_give_up(done)
    }

    /// Makes it stay, also after a loss of power.
    pub async fn commit(mut self) -> Result<(), LedgerError> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        perhaps_die(Moment::Before);
        let done = sqlx::raw_sql("COMMIT").execute(&mut connection).await;
        done.map_err(|error| LedgerError::from(error).at(self.ledger.dir()))?;
        perhaps_die(Moment::After);
        self.ledger.require_in_place()?;
        *self.slot = Some(connection);
        self.ledger.tell_watchers();
        Ok(())
    }

    fn connection(&mut self) -> Result<&mut SqliteConnection, LedgerError> {
        self.connection.as_mut().ok_or_else(given_up)
    }

    /// After a failed write nothing of the transaction may stay, whatever the caller does next.
    fn or_give_up<T>(&mut self, done: Result<T, LedgerError>) -> Result<T, LedgerError> {
        done.map_err(|error| {
            self.connection = None;
            error.at(self.ledger.dir())
        })
    }
}

fn given_up() -> LedgerError {
    LedgerError::Other("this transaction failed before".to_owned())
}

/// Events to be appended, folded already and not written yet.
pub struct Draft {
    end: End,
    stored: Stored,
    events: Vec<Event>,
    at_ms: i64,
}

impl Draft {
    /// The review with everything that was added.
    pub fn review(&self) -> &Review {
        &self.stored.review
    }

    /// Adds events.
    pub fn add(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.stored.record(event, self.at_ms));
        self.events.extend(events);
    }
}

/// Writes the events, and everything that is read quickly instead of them.
async fn write(connection: &mut SqliteConnection, draft: Draft) -> Result<Stored, LedgerError> {
    let Draft { end, stored, events, at_ms } = draft;
    let before = end.n;
    let bodies = events.iter().map(|event| Ok((event.kind(), serde_json::to_string(event)?)));
    let bodies: Result<Vec<_>, serde_json::Error> = bodies.collect();
    let bodies = bodies.map_err(|error| LedgerError::Other(error.to_string()))?;
    let first = append::insert(connection, end, stored.review.id.as_str(), at_ms, &bodies).await?;
    // What a round asks never changes, so the review after all of them tells as much as after each.
    for (n, event) in (before + 1..).zip(&events) {
        rulings::index(connection, &stored.review, n, event).await?;
    }
    calls::follow(connection, &stored.review, &events, at_ms).await?;
    projection::write(connection, &Row::of(&stored, first)).await?;
    Ok(stored)
}
