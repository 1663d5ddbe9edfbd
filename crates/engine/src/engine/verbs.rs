//! The small operations on a review: read it, decide, lift, withdraw, mark as delivered.

use super::{Engine, EngineError, Result, Ticket};
use crate::fresh::now_ms;
use crate::ledger::{Ledger, Stored};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Actor, Decision, Input, Refused, State, Verb, step};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use tokio_util::sync::CancellationToken;

impl Engine {
    pub async fn get(&self, id: &ReviewId) -> Result<Stored> {
        self.0.ledger.review(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))
    }

    pub fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    /// The door wrote the answer and saw no hang-up.
    pub async fn delivered(&self, ticket: &Ticket) -> Result<()> {
        self.delivered_round(&ticket.review, ticket.round).await
    }

    /// The same for a door that no longer has the ticket.
    pub async fn delivered_round(&self, review: &ReviewId, round: u32) -> Result<()> {
        let stored = self.get(review).await?;
        self.feed(stored, vec![Input::Delivered { round }]).await?;
        Ok(())
    }

    /// Decides about the work that is recorded now.
    pub async fn decide(&self, id: &ReviewId, verb: Verb, by: Actor, reason: String) -> Result<Stored> {
        let stored = self.get(id).await?;
        let Some(digest) = stored.review.digest().cloned() else {
            return Err(EngineError::NotFound(id.to_string()));
        };
        self.decide_about(id, digest, verb, by, reason).await
    }

    /// Decides about the work of this digest; refused where the review is about other work by now.
    pub async fn decide_about(
        &self,
        id: &ReviewId,
        digest: Digest,
        verb: Verb,
        by: Actor,
        reason: String,
    ) -> Result<Stored> {
        let reason = self.hide(&reason);
        self.record_one(id, None, Input::Decided(Decision { by, verb, reason, digest, at_ms: now_ms() }))
            .await
    }

    /// Waits until a person has said what becomes of a round that has ended, in whichever process.
    pub async fn until_decided(&self, id: &ReviewId, cancel: &CancellationToken) -> Result<Stored> {
        let mut changes = self.0.ledger.watch().await?;
        loop {
            let stored = self.get(id).await?;
            if stored.review.state != State::AwaitingPerson {
                return Ok(stored);
            }
            tokio::select! {
                () = changes.changed() => {}
                () = cancel.cancelled() => return Err(EngineError::Interrupted),
            }
        }
    }

    /// A person lets a stopped review go on; with a digest, only where the review is still about that work.
    pub async fn lift_about(
        &self,
        id: &ReviewId,
        digest: Option<&Digest>,
        by: Actor,
        reason: String,
    ) -> Result<Stored> {
        self.record_one(id, digest, Input::Lifted { by, reason: self.hide(&reason) }).await
    }

    /// The author takes work back; with a digest, only where the review is still about that work.
    pub async fn withdraw_about(&self, id: &ReviewId, digest: Option<&Digest>, by: Actor) -> Result<Stored> {
        self.record_one(id, digest, Input::Withdrawn(by)).await
    }

    /// The session of an agent was written to, and this work is about to be handed in. Core decides what that changes.
    pub async fn written_to(
        &self,
        id: &ReviewId,
        by: Actor,
        work: &Submission,
        rules: &[Rule],
    ) -> Result<Stored> {
        let work = Box::new(work.clone());
        self.record_one(id, None, Input::WrittenTo { by, work, rules: rules.to_vec() }).await
    }

    /// Records one input, or returns its refusal. With a digest, only where the review is still about that work.
    pub(super) async fn record_one(
        &self,
        id: &ReviewId,
        about: Option<&Digest>,
        input: Input,
    ) -> Result<Stored> {
        let mut transaction = self.0.ledger.transaction().await?;
        let stored = transaction.review(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))?;
        if about.is_some() && about != stored.review.digest() {
            return Err(Refused::Stale.into());
        }
        let events = step(&stored.review, input)?;
        let stored = transaction.append(stored, &events, now_ms()).await?;
        transaction.commit().await?;
        Ok(stored)
    }
}
