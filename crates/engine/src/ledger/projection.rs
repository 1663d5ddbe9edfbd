//! One row per review for quick reading, computed from the folded review and written with its events.

use super::Stored;
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::{NoVerdict, Outcome, Settlement};
use countersign_core::review::State;
use serde_json::{Value, json};

/// What is known of a review without reading its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: ReviewId,
    /// The number of its first event in the ledger: reviews are listed in this order, newest first.
    pub opened_seq: u64,
    pub n: u64,
    pub subject: Subject,
    pub state: State,
    /// The outcome a caller is told now; none while a round is under way.
    pub standing: Option<Outcome>,
    pub round: u32,
    /// Rounds that ended in needs work since it was opened or lifted.
    pub attempts: u32,
    pub digest: Option<Digest>,
    pub holder: Option<String>,
    pub opened_ms: i64,
    pub changed_ms: i64,
    /// The number of the event that records that its events were pruned.
    pub pruned: Option<u64>,
}

/// How many reviews stand alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub state: State,
    /// The outcome a caller is told now.
    pub standing: Option<Outcome>,
    pub reviews: u64,
}

impl Row {
    /// What the row of a folded review must be.
    pub(super) fn of(stored: &Stored, opened_seq: u64) -> Self {
        let review = &stored.review;
        Self {
            id: review.id.clone(),
            opened_seq,
            n: stored.n,
            subject: review.subject.clone(),
            state: review.state,
            standing: review.standing(),
            round: review.round().map_or(0, |round| round.n),
            attempts: review.attempts,
            digest: review.digest().cloned(),
            holder: stored.holder.clone(),
            opened_ms: stored.opened_ms,
            changed_ms: stored.changed_ms,
            pruned: None,
        }
    }
}

pub(super) fn state_text(state: State) -> &'static str {
    match state {
        State::Unopened => "unopened",
        State::Judging => "judging",
        State::NeedsWork => "needs_work",
        State::NoVerdict(_) => "no_verdict",
        State::AwaitingPerson => "awaiting_person",
        State::Settled(_) => "settled",
    }
}

pub(super) fn outcome_text(outcome: Outcome) -> String {
    match outcome.reason() {
        None => outcome.name().to_owned(),
        Some(reason) => format!("{}/{reason}", outcome.name()),
    }
}

/// State and standing from their columns; none where they make no sense.
pub(super) fn state(state: &str, outcome: Option<&str>) -> Option<(State, Option<Outcome>)> {
    let standing = match outcome {
        None => None,
        Some(text) => Some(outcome_from(text)?),
    };
    let state = match (state, standing) {
        ("unopened", None) => State::Unopened,
        ("judging", _) => State::Judging,
        ("needs_work", _) => State::NeedsWork,
        ("awaiting_person", _) => State::AwaitingPerson,
        ("no_verdict", Some(Outcome::NoVerdict(why))) => State::NoVerdict(why),
        ("no_verdict", Some(Outcome::BudgetReached)) => State::NoVerdict(NoVerdict::Budget),
        ("settled", Some(outcome)) => State::Settled(Settlement::with(outcome)?),
        _ => return None,
    };
    Some((state, standing))
}

fn outcome_from(text: &str) -> Option<Outcome> {
    let value = match text.split_once('/') {
        None => Value::from(text),
        Some((name, reason)) => json!({ name: reason }),
    };
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::Stop;

    #[test]
    fn an_outcome_survives_its_column() {
        for outcome in [
            Outcome::Passed,
            Outcome::NeedsWork,
            Outcome::AwaitingPerson,
            Outcome::NoVerdict(NoVerdict::EmptyChange),
            Outcome::Stopped(Stop::AttemptsUsedUp),
        ] {
            assert_eq!(outcome_from(&outcome_text(outcome)), Some(outcome));
        }
        assert_eq!(outcome_from("no_verdict/whatever"), None);
    }
}
