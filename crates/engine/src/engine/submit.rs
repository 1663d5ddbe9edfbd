//! Handing in: one transaction, the same for every door.

use super::planner::rulings_since;
use super::{Engine, Prepared, Result};
use crate::fresh::{now_ms, random};
use crate::ledger::{Stored, Transaction};
use countersign_core::ids::{ReviewId, Token};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::review::{By, Given, Input, Known, Opening, Review, Route, Submit, route, step};
use std::sync::Arc;

/// What was handed in, and where it is judged.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub review: ReviewId,
    /// The round this work is judged in.
    pub round: u32,
    /// What handing it in meant.
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
        let kept = |given: &&Given| matches!(given.by, By::Reused { .. }) && given.answer.fails();
        own.map_or(0, |round| round.answers.values().filter(kept).count())
    }
}

impl Engine {
    /// Hands work in.
    pub async fn submit(&self, prepared: Prepared) -> Result<Ticket> {
        let mut transaction = self.0.ledger.transaction().await?;
        let latest = transaction.latest_for(&prepared.request.subject).await?;
        let Prepared { submission, plan, request } = &prepared;
        let latest_review = latest.as_ref().map(|stored| &stored.review);
        let way = route(latest_review, &submission.digest, &plan.assignments, request.fresh);
        let stored = match (way, latest) {
            (Route::Open, _) | (_, None) => Stored::unopened(ReviewId::new(random()?)),
            (_, Some(latest)) => latest,
        };
        let known = self.known(&mut transaction, &stored.review, &prepared, way).await?;
        let submit = Submit {
            rules: request.rules.clone(),
            opening: Opening { subject: request.subject.clone(), policy: request.policy.clone() },
            submission: submission.clone(),
            assignments: plan.assignments.clone(),
            known,
            fresh: request.fresh,
            token: Token::new(random()?),
            now_ms: now_ms(),
        };
        let events = step(&stored.review, Input::Submit(Box::new(submit)))?;
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
