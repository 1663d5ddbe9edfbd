//! Write transactions: one at a time, begun before anything is read, so that what was read still holds at the commit.

use super::calls::StartedCall;
use super::entry::{self, Line, chained, load};
use super::projection::Row;
use super::store::{End, Rows, Session};
use super::{
    CallState, Ledger, LedgerError, Note, Report, Result, Scope, Stored, calls, failures, reused, rulings,
};
use crate::fault::{Moment, kill_if_chosen};
use countersign_core::cost::Spending;
use countersign_core::ids::{CallId, ReviewId, Subject};
use countersign_core::plan::{Assignment, Candidate};
use countersign_core::review::{Event, Known, Review, Standing};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;

/// A write transaction. Without [`commit`](Self::commit), or after a failed write, nothing of it stays.
pub struct Transaction {
    pub(super) ledger: Ledger,
    /// None after a failed write.
    pub(super) session: Option<Session>,
    /// The number and the hash of the last event it appends.
    pub(super) last: Option<(u64, Vec<u8>)>,
}

impl Transaction {
    pub async fn latest_for(&mut self, subject: &Subject) -> Result<Option<Stored>> {
        let subject = self.ledger.own(subject);
        latest_for(self.session()?, &subject).await
    }

    /// A review; none where nothing is recorded under this id.
    pub async fn review(&mut self, id: &ReviewId) -> Result<Option<Stored>> {
        load(self.session()?, id).await
    }

    /// Appends events to the stream of `from`, which is a review as it was read, or [`Stored::unopened`].
    /// Where more is recorded by now it is a [`LedgerError::Conflict`], and nothing was written.
    pub async fn append(&mut self, from: Stored, events: &[Event], at_ms: i64) -> Result<Stored> {
        let mut draft = self.draft(from, at_ms).await?;
        draft.add(events.to_vec());
        self.write(draft).await
    }

    /// Like [`append`](Self::append), for events that are decided one by one, each on the review so far.
    pub async fn draft(&mut self, from: Stored, at_ms: i64) -> Result<Draft> {
        let end = self.session()?.end(from.review.id.as_str()).await?;
        if end.n != from.n {
            return Err(LedgerError::Conflict);
        }
        Ok(Draft { end, stored: from, events: vec![], at_ms })
    }

    pub async fn write(&mut self, draft: Draft) -> Result<Stored> {
        if draft.events.is_empty() {
            return Ok(draft.stored);
        }
        let written = write(self.session()?, draft).await;
        let (stored, last) = self.or_give_up(written)?;
        self.last = last;
        Ok(stored)
    }

    /// Says which process does what is due for a review.
    pub async fn set_holder(&mut self, id: &ReviewId, holder: Option<&str>) -> Result<()> {
        let done = self.session()?.set_holder(id, holder).await;
        match self.or_give_up(done)? {
            false => Err(LedgerError::Missing(format!("review {id}"))),
            true => Ok(()),
        }
    }

    /// The rulings of these candidates that stand beyond their review: failures, and passes since `passed_since_ms`.
    pub async fn rulings(
        &mut self,
        candidates: impl IntoIterator<Item = &Candidate>,
        passed_since_ms: i64,
    ) -> Result<Vec<Known>> {
        rulings::look_up(self.session()?, candidates, passed_since_ms).await
    }

    /// What stands on these assignments of a submission: failures, and what disputes left of them.
    pub async fn standing(
        &mut self,
        rules: &[Rule],
        submission: &Submission,
        assignments: impl IntoIterator<Item = &Assignment>,
    ) -> Result<Vec<Standing>> {
        failures::look_up(self.session()?, rules, submission, assignments).await
    }

    /// Notes what a reviewer reported about a call.
    pub async fn record_call(&mut self, call: &CallId, report: &Report) -> Result<()> {
        let done = calls::report(self.session()?, call, report).await;
        self.or_give_up(done)
    }

    /// Begins the call of a question that belongs to a door's stream, in place of a review.
    pub async fn begin_call(
        &mut self,
        stream: &str,
        call: &CallId,
        reviewer: &str,
        at_ms: i64,
    ) -> Result<()> {
        let begun = StartedCall { id: call, stream, round: 0, assignment: None, reviewer, asked_ms: at_ms };
        let done = self.session()?.begin_calls(&[begun]).await;
        self.or_give_up(done)
    }

    pub async fn end_call(&mut self, call: &CallId, answered: bool) -> Result<()> {
        let state = if answered { CallState::Answered } else { CallState::Failed };
        let done = self.session()?.set_call(call, state).await;
        self.or_give_up(done)
    }

    /// What is recorded in a door's own stream.
    pub async fn notes(&mut self, stream: &str) -> Result<Vec<Note>> {
        entry::notes(self.session()?, stream).await
    }

    /// Appends to a door's own stream, of which `known` events are known, each a kind and a body. Where more is
    /// recorded by now it is a [`LedgerError::Conflict`], and nothing was written.
    pub async fn note(
        &mut self,
        stream: &str,
        known: u64,
        notes: &[(&str, String)],
        at_ms: i64,
    ) -> Result<()> {
        let end = self.session()?.end(stream).await?;
        if end.n != known {
            return Err(LedgerError::Conflict);
        }
        let lines = chained(end, stream, at_ms, notes.to_vec());
        let done = self.session()?.append(&lines).await;
        self.last = last_of(&lines).or(self.last.take());
        self.or_give_up(done)
    }

    pub async fn last_note(&mut self, stream: &str) -> Result<Option<Note>> {
        entry::last_note(self.session()?, stream).await
    }

    pub async fn spent(&mut self, scope: Scope<'_>) -> Result<Spending> {
        self.session()?.spent(scope).await
    }

    /// Notes the most that a call may need.
    pub async fn reserve(&mut self, call: &CallId, worst: Spending) -> Result<()> {
        let worst = Spending { tokens: calls::kept(worst.tokens), microusd: calls::kept(worst.microusd) };
        let done = self.session()?.reserve(call, worst).await;
        self.or_give_up(done)
    }

    /// Makes it stay, also after a loss of power.
    pub async fn commit(mut self) -> Result<()> {
        let session = self.session.take().ok_or_else(given_up)?;
        kill_if_chosen(Moment::Before);
        session.commit().await?;
        kill_if_chosen(Moment::After);
        if let Some((seq, link)) = &self.last {
            self.ledger.follow_head(*seq, link).await;
        }
        self.ledger.tell_watchers();
        Ok(())
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().ok_or_else(given_up)
    }

    /// After a failed write nothing of the transaction may stay, whatever the caller does next.
    fn or_give_up<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.is_err() {
            self.session = None;
        }
        done
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
    pub fn review(&self) -> &Review {
        &self.stored.review
    }

    pub fn add(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.stored.record(event, self.at_ms));
        self.events.extend(events);
    }
}

pub(super) async fn latest_for(session: &mut Session, subject: &Subject) -> Result<Option<Stored>> {
    match session.rows(Rows::Latest(subject)).await?.pop() {
        None => Ok(None),
        Some(row) => match load(session, &row.id).await {
            // What stops a subject is never pruned: without its events it is a subject like a new one.
            Err(LedgerError::Pruned { .. }) => Ok(None),
            loaded => loaded,
        },
    }
}

/// Writes the events, and the tables that are computed from them.
async fn write(session: &mut Session, draft: Draft) -> Result<(Stored, Option<(u64, Vec<u8>)>)> {
    let Draft { end, stored, events, at_ms } = draft;
    let (before, first) = (end.n, end.seq + 1);
    let mut bodies = vec![];
    for event in &events {
        bodies.push((event.kind(), reused::body(session, event).await?));
    }
    let lines = chained(end, stored.review.id.as_str(), at_ms, bodies);
    session.append(&lines).await?;
    // What a round asks never changes, so the review after all of them tells as much as after each.
    for (n, event) in (before + 1..).zip(&events) {
        rulings::index(session, &stored.review, n, event).await?;
    }
    calls::follow(session, &stored.review, &events, at_ms).await?;
    session.put_row(&Row::of(&stored, first)).await?;
    Ok((stored, last_of(&lines)))
}

fn last_of(lines: &[Line]) -> Option<(u64, Vec<u8>)> {
    lines.last().map(|line| (line.seq, line.chain.clone()))
}
