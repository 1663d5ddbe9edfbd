//! The fold: events become a review. It records and never decides.

use super::left_out::open_after;
use super::{Actor, By, Event, Failure, RecordedAnswer, ReusedAnswer, Review, Round, State};
use crate::digest::Key;
use crate::ids::ReviewId;
use crate::judge::{Judgement, RoundEnd};
use crate::outcome::NoVerdict;

pub fn apply(mut review: Review, event: &Event) -> Review {
    review.events += 1;
    match event {
        Event::ReviewOpened { subject, rules, policy } => {
            review.subject = subject.clone();
            review.rules = rules.clone();
            review.policy = policy.clone();
        }
        Event::Submitted { round, submission, assignments, rules, left_out } => {
            if let Some(rules) = rules {
                review.rules = rules.clone();
                review.rule_changes += 1;
            }
            review.state = State::Judging;
            review.decided = None;
            let before = review.round().map(|round| round.rules.clone());
            let rules = before.filter(|before| **before == *review.rules);
            let rules = rules.unwrap_or_else(|| review.rules.as_slice().into());
            let round = Round::new(*round, submission.clone(), rules, assignments.clone());
            review.rounds.push(Round { left_out: left_out.clone(), ..round });
        }
        Event::Asked { call, key, place, .. } => {
            if let (Some(mark), Some(round)) = (place.mark(), latest_round_asking(&mut review, key)) {
                round.asked_at.insert(call.clone(), mark);
            }
        }
        Event::Answered { key, answer, by, place, .. } => {
            let n = review.events;
            let given = RecordedAnswer { answer: answer.clone(), by: by.clone(), n, place: place.clone() };
            answered(&mut review, key, given);
        }
        Event::Reused { answers, .. } => {
            let n = review.events;
            for ReusedAnswer { key, answer, by, place } in answers {
                let given =
                    RecordedAnswer { answer: answer.clone(), by: by.clone(), n, place: place.clone() };
                answered(&mut review, key, given);
            }
        }
        Event::AskFailed { key, why, detail, fixed, budget, not_put, .. } => {
            if let Some(round) = latest_round_asking(&mut review, key) {
                let (detail, fixed) = (detail.clone(), fixed.clone());
                let failure = Failure { why: *why, detail, fixed, budget: *budget, not_put: *not_put };
                round.failures.entry(key.clone()).or_default().push(failure);
            }
        }
        Event::SelfReviewAsked { token, .. } => {
            review.self_review_calls += 1;
            if let Some(round) = review.rounds.last_mut() {
                round.token = Some(token.clone());
            }
        }
        Event::RoundJudged { end, judgement, at_ms, .. } => judged(&mut review, *end, judgement, *at_ms),
        Event::PersonAsked { .. } => review.state = State::AwaitingPerson,
        Event::Decided { decision } => {
            review.decisions.push(decision.clone());
            review.decided = Some(decision.clone());
            if decision.by.may_decide() {
                review.session_lifts = 0;
            }
            if decision.verb == super::Verb::Fix {
                review.state = State::NeedsWork;
            }
        }
        Event::Disputed { dispute } => {
            review.open.retain(|open| dispute.upheld || open.finding.id != dispute.finding);
            review.disputes.push(dispute.clone());
        }
        Event::Lifted { by, reason } => lifted(&mut review, by, reason),
        Event::Settled { outcome } => review.state = State::Settled(*outcome),
        Event::Notified { round } => {
            if let Some(round) = review.rounds.iter_mut().find(|known| known.n == *round) {
                round.delivered = true;
            }
        }
    }
    review
}

pub fn fold<'a>(id: ReviewId, events: impl IntoIterator<Item = &'a Event>) -> Review {
    events.into_iter().fold(Review::unopened(id), apply)
}

fn answered(review: &mut Review, key: &Key, given: RecordedAnswer) {
    match given.by {
        // The disputed answer stays on record; this one stands in its place from now on.
        By::Disputed { .. } => {
            review.amended.insert(key.clone(), given);
            return;
        }
        By::SelfReview { .. } => review.self_review_calls = 0,
        By::Call { .. } | By::Reused { .. } => {}
    }
    let Some(round) = latest_round_asking(review, key) else { return };
    // Of two answers to one question the worse one holds.
    if round.answers.get(key).is_none_or(|known| given.answer.is_worse_than(&known.answer)) {
        round.answers.insert(key.clone(), given);
    }
}

fn lifted(review: &mut Review, by: &Actor, reason: &str) {
    review.lifts.push((by.clone(), reason.to_owned()));
    review.decided = None;
    review.session_lifts = if by.may_decide() { 0 } else { review.session_lifts + 1 };
    if matches!(review.state, State::Settled(_)) {
        review.state = State::NeedsWork;
    }
    review.attempts = 0;
    review.empty_rounds = 0;
    review.self_review_calls = 0;
    review.budget_from_round = review.round().map_or(0, |round| round.n + 1);
}

fn latest_round_asking<'a>(review: &'a mut Review, key: &Key) -> Option<&'a mut Round> {
    review.rounds.iter_mut().rev().find(|round| round.asking(key).next().is_some())
}

fn judged(review: &mut Review, end: RoundEnd, judgement: &Judgement, at_ms: i64) {
    // An author who replaces the work before a self-review, or before a reviewer answered, learned nothing of a reviewer.
    let mut own_pace = false;
    if let Some(round) = review.rounds.last_mut() {
        own_pace = end == RoundEnd::Superseded && (round.token.is_some() || !round.has_replies());
        round.end = Some(end);
        round.judgement = judgement.clone();
        review.open = open_after(std::mem::take(&mut review.open), round, judgement);
    }
    match end {
        RoundEnd::Pass => {
            // A pass that only new notes brought about costs an attempt.
            review.attempts += u32::from(!judgement.after_notes.is_empty());
            review.empty_rounds = 0;
        }
        RoundEnd::NeedsWork => {
            review.attempts += 1;
            review.empty_rounds = 0;
            review.state = State::NeedsWork;
        }
        RoundEnd::NoVerdict(_) | RoundEnd::Stale | RoundEnd::Superseded => {
            // No reviewer was called, so there is no cool-off.
            let unasked = end == RoundEnd::NoVerdict(NoVerdict::Budget);
            review.empty_rounds += u32::from(!own_pace && !unasked);
            review.empty_at_ms = at_ms;
            review.state = State::NoVerdict(match end {
                RoundEnd::NoVerdict(why) => why,
                _ => NoVerdict::Stale,
            });
        }
    }
}
