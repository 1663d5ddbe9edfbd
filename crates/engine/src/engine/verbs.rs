//! The operations on a review: submit, read, decide, lift, withdraw, mark as delivered. Inputs of the review become events
//! in one transaction, on the newest state of the review.

use super::planner::rulings_since;
use super::{Engine, EngineError, Prepared, Result};
use crate::fresh::{now_ms, random};
use crate::ledger::{Draft, Ledger, LedgerError, Report, Stored, Transaction};
use countersign_core::answer::Answer;
use countersign_core::digest::{Digest, Key};
use countersign_core::ids::{CallId, ReviewId, Token};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::review::{
    Actor, By, DISPUTES, Decision, Input, Known, NotSubmitted, Opening, RecordedAnswer, Refused, Review,
    Route, State, Submit, Verb, apply, contradicts, route, stands_over, step,
};
use countersign_core::rule::Rule;
use countersign_core::submission::{Material, Submission};
use std::collections::HashSet;
use std::sync::Arc;
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

impl Engine {
    /// Records what follows from inputs.
    pub(super) async fn feed(&self, stored: Stored, inputs: Vec<Input>) -> Result<Stored> {
        self.feed_with(stored, inputs, vec![]).await
    }

    pub(super) async fn feed_with(
        &self,
        stored: Stored,
        inputs: Vec<Input>,
        reports: Vec<(CallId, Report)>,
    ) -> Result<Stored> {
        let mut transaction = self.0.ledger.transaction().await?;
        let mut draft = self.draft(&mut transaction, stored).await?;
        let inputs = with_standing(&mut transaction, draft.review(), inputs).await?;
        for input in inputs {
            step_on(&mut draft, input)?;
        }
        let stored = transaction.write(draft).await?;
        for (call, report) in reports {
            if report != Report::default() {
                transaction.record_call(&call, &report).await?;
            }
        }
        transaction.commit().await?;
        Ok(stored)
    }

    /// Begins to write on what is recorded now, which may be more than `stored` has.
    pub(super) async fn draft(&self, transaction: &mut Transaction, stored: Stored) -> Result<Draft> {
        let id = stored.review.id.clone();
        match transaction.draft(stored, now_ms()).await {
            Err(LedgerError::Conflict) => {
                let newer = transaction.review(&id).await?;
                let newer = newer.ok_or_else(|| EngineError::NotFound(id.to_string()))?;
                Ok(transaction.draft(newer, now_ms()).await?)
            }
            draft => Ok(draft?),
        }
    }
}

/// Answers with the failures that stand on the same bytes, in whichever review they were recorded. A pass does not
/// replace them.
async fn with_standing(
    transaction: &mut Transaction,
    review: &Review,
    inputs: Vec<Input>,
) -> Result<Vec<Input>> {
    let answered = |input: &Input| match input {
        Input::Answered { key, .. } => vec![key.clone()],
        Input::SelfReviewed { answers, .. } => answers.iter().map(|(key, _)| key.clone()).collect(),
        _ => vec![],
    };
    let keys: HashSet<Key> = inputs.iter().flat_map(answered).collect();
    let Some(round) = review.round().filter(|_| !keys.is_empty() && review.subject.door() != DISPUTES) else {
        return Ok(inputs);
    };
    let asked = keys.iter().filter_map(|key| Some(round.asking(key).next()?.1));
    let standing = transaction.standing(&round.rules, &round.submission, asked).await?;
    if standing.is_empty() {
        return Ok(inputs);
    }
    let mut all = vec![];
    for mut input in inputs {
        let mut worse = vec![];
        let mut mark = |key: &Key, answer: &mut Answer| {
            let (marked, holds) = stands_over(review, key, std::mem::take(answer), &standing);
            *answer = marked;
            worse.extend(holds.map(|(answer, by)| Input::Answered { key: key.clone(), answer, by }));
        };
        match &mut input {
            Input::Answered { key, answer, .. } => mark(key, answer),
            Input::SelfReviewed { answers, .. } => {
                answers.iter_mut().for_each(|(key, answer)| mark(key, answer));
            }
            _ => {}
        }
        all.push(input);
        all.extend(worse);
    }
    Ok(all)
}

/// Adds what follows from an input.
pub(super) fn step_on(draft: &mut Draft, input: Input) -> Result<(), Refused> {
    match step(draft.review(), input) {
        Ok(events) => draft.add(events),
        // Another process was faster: the state already says what is due now.
        Err(Refused::NotAsked | Refused::NotNow(_) | Refused::Settled(_)) => {}
        Err(refused) => return Err(refused),
    }
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Ticket {
    pub review: ReviewId,
    /// The round this work is judged in.
    pub round: u32,
    pub route: Route,
    pub(super) prepared: Arc<Prepared>,
    pub(super) offer: Option<super::self_review::Offer>,
}

impl Ticket {
    /// How this ticket's round stands, in the review as [`Engine::wait`] gives it back.
    pub fn outcome(&self, stored: &Stored) -> Outcome {
        let own = stored.review.round().is_some_and(|round| round.n == self.round);
        // A later round is about other work: its verdict is not this one's.
        let standing = stored.review.standing().filter(|_| own);
        standing.unwrap_or(Outcome::NoVerdict(NoVerdict::Unavailable))
    }

    /// How many failures were not asked about again, although all was to be asked again: they stand on their bytes.
    pub fn kept_failures(&self, stored: &Stored) -> usize {
        let own = stored.review.round().filter(|round| round.n == self.round && self.prepared.request.fresh);
        let kept = |given: &&RecordedAnswer| matches!(given.by, By::Reused { .. }) && given.answer.fails();
        own.map_or(0, |round| round.answers.values().filter(kept).count())
    }
}

impl Engine {
    pub async fn submit(&self, prepared: Prepared) -> Result<Ticket> {
        self.submit_with(prepared, None).await
    }

    /// Submits work and approves it in one transaction: no reviewer is asked. What has passed already is left as it is.
    pub async fn submit_approved(&self, prepared: Prepared, by: Actor, reason: &str) -> Result<Ticket> {
        let (verb, reason, at_ms) = (Verb::Approve, self.hide(reason), now_ms());
        let digest = prepared.submission.digest.clone();
        self.submit_with(prepared, Some(Decision { by, verb, reason, digest, at_ms })).await
    }

    async fn submit_with(&self, prepared: Prepared, decision: Option<Decision>) -> Result<Ticket> {
        let (mut transaction, latest, not_submitted) = self.latest_and_not_submitted(&prepared).await?;
        let Prepared { submission, plan, request } = &prepared;
        let mut submit = Submit {
            rules: request.rules.clone(),
            opening: Opening { subject: self.0.ledger.own(&request.subject), policy: request.policy.clone() },
            submission: submission.clone(),
            assignments: plan.assignments.clone(),
            known: vec![],
            standing: vec![],
            not_submitted,
            fresh: request.fresh,
            token: Token::new(random()?),
            is_decided: decision.is_some(),
            now_ms: now_ms(),
        };
        // A dispute asks about a failure that stands.
        if request.subject.door() != DISPUTES {
            submit.standing = transaction.standing(&request.rules, submission, &plan.assignments).await?;
        }
        let latest_review = latest.as_ref().map(|stored| &stored.review);
        let fresh = request.fresh || latest_review.is_some_and(|review| contradicts(review, &submit));
        let way = route(latest_review, &submission.digest, &plan.assignments, fresh);
        let stored = match (way, latest) {
            (Route::Open, _) | (_, None) => Stored::unopened(ReviewId::new(random()?)),
            (_, Some(latest)) => latest,
        };
        submit.known = self.known(&mut transaction, &stored.review, &prepared, way).await?;
        let mut events = step(&stored.review, Input::Submit(Box::new(submit)))?;
        if let Some(decision) = decision {
            let after = events.iter().fold(stored.review.clone(), apply);
            match step(&after, Input::Decided(decision)) {
                Ok(decided) => events.extend(decided),
                Err(Refused::Settled(outcome)) if outcome.exit_code() == 0 => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        let review = stored.review.id.clone();
        let mut round = stored.review.round().map_or(1, |round| round.n);
        if !events.is_empty() {
            let stored = transaction.append(stored, &events, now_ms()).await?;
            transaction.set_holder(&review, Some(self.0.holder.id())).await?;
            transaction.commit().await?;
            round = stored.review.round().map_or(1, |round| round.n);
        }
        Ok(Ticket { review, round, route: way, prepared: Arc::new(prepared), offer: None })
    }

    /// The latest review of the subject, and what became of the files of its open findings that are not submitted. They
    /// are read before the transaction begins: reading a change takes long.
    async fn latest_and_not_submitted(
        &self,
        prepared: &Prepared,
    ) -> Result<(Transaction, Option<Stored>, Vec<NotSubmitted>)> {
        let mut looked_at: Vec<NotSubmitted> = vec![];
        loop {
            let mut transaction = self.0.ledger.transaction().await?;
            let latest = transaction.latest_for(&prepared.request.subject).await?;
            let Some(stored) = latest else { return Ok((transaction, None, looked_at)) };
            let missing: Vec<_> = stored.review.not_submitted(&prepared.submission).collect();
            let known = |file: &Material| {
                looked_at.iter().any(|known| (&known.path, known.form) == (&file.path, file.form))
            };
            if missing.iter().all(|(_, file)| known(file)) {
                return Ok((transaction, Some(stored), looked_at));
            }
            drop(transaction);
            looked_at = self.0.planner.not_submitted(&missing).await?;
        }
    }

    /// Rulings of other reviews that stand for this work.
    async fn known(
        &self,
        transaction: &mut Transaction,
        review: &Review,
        prepared: &Prepared,
        way: Route,
    ) -> Result<Vec<Known>> {
        if !matches!(way, Route::Open | Route::Supersede | Route::NextRound) {
            return Ok(vec![]);
        }
        let policy = if way == Route::Open { &prepared.request.policy } else { &review.policy };
        let candidates = prepared.plan.assignments.iter().flat_map(|assignment| &assignment.candidates);
        Ok(transaction.rulings(candidates, rulings_since(policy)).await?)
    }
}
