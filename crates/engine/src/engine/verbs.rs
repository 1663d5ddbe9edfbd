//! The smaller verbs: look, decide, lift, withdraw, deliver.

use super::{Engine, EngineError, Ticket};
use crate::fresh::now_ms;
use crate::ledger::{Ledger, Stored};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::review::{Actor, Decision, Input, Refused, State, Verb, step};
use countersign_core::rule::Rule;
use countersign_core::submission::Submission;
use tokio_util::sync::CancellationToken;

impl Engine {
    /// A review as it stands.
    pub async fn get(&self, id: &ReviewId) -> Result<Stored, EngineError> {
        self.0.ledger.review(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))
    }

    /// The ledger, for reading.
    pub fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    /// The door wrote the answer and saw no hang-up.
    pub async fn delivered(&self, ticket: &Ticket) -> Result<(), EngineError> {
        self.delivered_round(&ticket.review, ticket.round).await
    }

    /// The same for a door that no longer has the ticket.
    pub async fn delivered_round(&self, review: &ReviewId, round: u32) -> Result<(), EngineError> {
        let stored = self.get(review).await?;
        self.feed(stored, vec![Input::Delivered { round }]).await?;
        Ok(())
    }

    /// Somebody decides about exactly the work that stands now.
    pub async fn decide(
        &self,
        id: &ReviewId,
        verb: Verb,
        by: Actor,
        reason: String,
    ) -> Result<Stored, EngineError> {
        let stored = self.get(id).await?;
        let Some(digest) = stored.review.digest().cloned() else {
            return Err(EngineError::NotFound(id.to_string()));
        };
        self.decide_about(id, digest, verb, by, reason).await
    }

    /// Somebody decides about the work they had before them; where it is other work by now, that is refused.
    pub async fn decide_about(
        &self,
        id: &ReviewId,
        digest: Digest,
        verb: Verb,
        by: Actor,
        reason: String,
    ) -> Result<Stored, EngineError> {
        let reason = self.hide(&reason);
        self.one(id, Input::Decided(Decision { by, verb, reason, digest, at_ms: now_ms() })).await
    }

    /// Waits until a person has said what becomes of a round that has ended, in whichever process.
    pub async fn until_decided(
        &self,
        id: &ReviewId,
        cancel: &CancellationToken,
    ) -> Result<Stored, EngineError> {
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

    /// Somebody lets a stopped review go on.
    pub async fn lift(&self, id: &ReviewId, by: Actor, reason: String) -> Result<Stored, EngineError> {
        self.lift_about(id, None, by, reason).await
    }

    /// The same, refused where it is about other work by now than they had before them.
    pub async fn lift_about(
        &self,
        id: &ReviewId,
        digest: Option<&Digest>,
        by: Actor,
        reason: String,
    ) -> Result<Stored, EngineError> {
        self.one_about(id, digest, Input::Lifted { by, reason: self.hide(&reason) }).await
    }

    /// Whoever handed it in takes it back.
    pub async fn withdraw(&self, id: &ReviewId, by: Actor) -> Result<Stored, EngineError> {
        self.withdraw_about(id, None, by).await
    }

    /// The same, refused where it is about other work by now than they had before them.
    pub async fn withdraw_about(
        &self,
        id: &ReviewId,
        digest: Option<&Digest>,
        by: Actor,
    ) -> Result<Stored, EngineError> {
        self.one_about(id, digest, Input::Withdrawn(by)).await
    }

    /// The session of an agent was written to, and this work is about to be handed in. Core decides what that changes.
    pub async fn written_to(
        &self,
        id: &ReviewId,
        by: Actor,
        work: &Submission,
        rules: &[Rule],
    ) -> Result<Stored, EngineError> {
        let work = Box::new(work.clone());
        self.one(id, Input::WrittenTo { by, work, rules: rules.to_vec() }).await
    }

    /// One input whose refusal the caller wants to know.
    pub(super) async fn one(&self, id: &ReviewId, input: Input) -> Result<Stored, EngineError> {
        self.one_about(id, None, input).await
    }

    /// The same; with a digest, about that work and no other.
    async fn one_about(
        &self,
        id: &ReviewId,
        about: Option<&Digest>,
        input: Input,
    ) -> Result<Stored, EngineError> {
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
