//! Recording: inputs of the review become events in one transaction, on the newest state of the review.

use super::{Engine, EngineError, Result};
use crate::fresh::now_ms;
use crate::ledger::{Draft, LedgerError, Report, Stored, Transaction};
use countersign_core::digest::Key;
use countersign_core::ids::CallId;
use countersign_core::review::{Input, Known, Refused, Review, step};
use std::collections::HashSet;

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
        let failures = self.standing_failures(&mut transaction, draft.review(), &inputs).await?;
        for input in inputs.into_iter().chain(failures) {
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

    /// Failures that another review recorded meanwhile on questions that pass here. A pass does not replace them.
    async fn standing_failures<'i>(
        &self,
        transaction: &mut Transaction,
        review: &Review,
        inputs: &'i [Input],
    ) -> Result<Vec<Input>> {
        let passes = |input: &'i Input| match input {
            Input::Answered { key, answer, .. } if !answer.fails() => Some(key),
            _ => None,
        };
        let passed: HashSet<&Key> = inputs.iter().filter_map(passes).collect();
        let Some(round) = review.round().filter(|_| !passed.is_empty()) else { return Ok(vec![]) };
        let candidates = round.assignments.iter().flat_map(|assignment| &assignment.candidates);
        let candidates = candidates.filter(|candidate| passed.contains(&candidate.key));
        let known = transaction.rulings(candidates, i64::MAX).await?;
        let failures = known.into_iter().filter(|known| known.answer.fails());
        Ok(failures.map(|Known { key, answer, by, .. }| Input::Answered { key, answer, by }).collect())
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
