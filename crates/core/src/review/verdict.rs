//! The verdict of a round, computed from the rulings on record: when a round is judged, and again when a ledger is checked.

use super::{Event, Review, Round, Verb};
use crate::judge::{Judgement, RoundEnd, judge};
use crate::outcome::{NoVerdict, Settlement};

/// What the rulings of a round say, and how it ends if the files are still the same.
pub(super) fn verdict(review: &Review, round: &Round) -> (RoundEnd, Judgement) {
    let threshold = review.policy.threshold(review.attempts + 1);
    let judgement = judge(
        &review.rules,
        &round.assignments,
        &round.submission,
        threshold,
        review.policy.accept_bare_verdicts,
        |assignment| match round.answer_to(assignment) {
            Some((_, given)) => Ok(&given.answer),
            None if assignment.not_seen => Err(NoVerdict::NotSeen),
            None => Err(round.failure_of(assignment).map_or(NoVerdict::Unavailable, |failure| failure.why)),
        },
    );
    let end = match judgement.end(round.assignments.len()) {
        RoundEnd::Pass if !round.left_out.is_empty() => RoundEnd::NeedsWork,
        end => end,
    };
    (end, judgement)
}

/// Whether a recorded verdict or end follows from what was recorded before it. Events that say neither always do.
pub fn follows(review: &Review, event: &Event) -> bool {
    match event {
        Event::RoundJudged { round: n, end, judgement, .. } => {
            let Some(round) = review.round().filter(|round| round.n == *n && round.end.is_none()) else {
                return false;
            };
            let (expected, rulings) = verdict(review, round);
            match end {
                RoundEnd::Superseded => *judgement == Judgement::default(),
                // Whether the files had changed is no ruling.
                RoundEnd::Stale => *judgement == rulings,
                _ => (*end, judgement) == (expected, &rulings),
            }
        }
        Event::Settled { outcome } => {
            let ended = review.round().and_then(|round| round.end);
            let decided = review.decisions.last().map(|decision| decision.verb);
            match outcome {
                Settlement::Passed => {
                    let asks = |round: &Round| round.judgement.needs_person(&round.submission);
                    ended == Some(RoundEnd::Pass) && !review.round().is_some_and(asks)
                }
                Settlement::Overridden => decided == Some(Verb::Approve),
                Settlement::Skipped => decided == Some(Verb::Skip),
                Settlement::NeedsWork
                | Settlement::NoVerdict(_)
                | Settlement::BudgetReached
                | Settlement::Stopped(_) => true,
            }
        }
        _ => true,
    }
}
