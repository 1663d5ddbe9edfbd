//! What people may do with a review: decide in place of its verdict, lift it, withdraw it. And the little that the session
//! of an agent may do after its user wrote to it.

use super::{Actor, Decision, Event, Refused, Review, State, Verb};
use crate::judge::RoundEnd;
use crate::outcome::{NoVerdict, Settlement, Stop};
use crate::policy::{MAX_EMPTY_ROUNDS, MAX_SESSION_LIFTS, Overrides};
use crate::rule::Rule;
use crate::submission::Submission;

/// Why a session lets a review go on.
const WRITTEN_TO: &str = "the user wrote to the session, and the work has changed";

pub(super) fn decided(review: &Review, decision: Decision) -> Result<Vec<Event>, Refused> {
    // The first decision about a digest counts. An unblock allows another one.
    if let Some(first) = review.decided.as_ref().filter(|first| first.digest == decision.digest) {
        return Err(Refused::Decided(first.words()));
    }
    // A person who approves what was stopped lets it go on and approves it.
    let stopped = match review.state {
        State::Settled(Settlement::Stopped(why))
            if why != Stop::Withdrawn && decision.verb != Verb::Reject =>
        {
            true
        }
        State::Settled(settlement) => return Err(Refused::Settled(settlement.into())),
        _ => false,
    };
    if review.digest() != Some(&decision.digest) {
        return Err(Refused::Stale);
    }
    // Where a person has the last word, what passed is approved without an override.
    let awaited = review.state == State::AwaitingPerson;
    let passed = awaited && review.round().is_some_and(|round| round.end == Some(RoundEnd::Pass));
    let overrides = match decision.verb {
        Verb::Approve => !passed,
        Verb::Skip => true,
        Verb::Reject | Verb::Fix => false,
    };
    match review.policy.overrides {
        _ if awaited && !decision.by.may_decide() => return Err(forbidden(&decision.by)),
        Overrides::Forbid if overrides => return Err(Refused::NoOverrides),
        Overrides::PeopleOnly | Overrides::Forbid if !decision.by.may_decide() => {
            return Err(forbidden(&decision.by));
        }
        _ => {}
    }
    let outcome = match decision.verb {
        Verb::Approve if passed => Some(Settlement::Passed),
        Verb::Approve => Some(Settlement::Overridden),
        Verb::Skip => Some(Settlement::Skipped),
        Verb::Reject => Some(Settlement::Stopped(Stop::Rejected)),
        Verb::Fix if review.state == State::Judging => {
            return Err(Refused::NotNow("the round is still under way"));
        }
        Verb::Fix => None,
    };
    let mut events = match stopped {
        true => lifted(review, decision.by.clone(), decision.reason.clone())?,
        false => vec![],
    };
    events.push(Event::Decided { decision });
    events.extend(outcome.map(|outcome| Event::Settled { outcome }));
    Ok(events)
}

pub(super) fn lifted(review: &Review, by: Actor, reason: String) -> Result<Vec<Event>, Refused> {
    if !by.may_decide() {
        return Err(forbidden(&by));
    }
    let is_stopped = match review.state {
        State::Settled(Settlement::Stopped(why)) => why != Stop::Withdrawn,
        State::NoVerdict(why) => why == NoVerdict::Budget || review.empty_rounds >= MAX_EMPTY_ROUNDS,
        _ => false,
    };
    match is_stopped {
        true => Ok(vec![Event::Lifted { by, reason }]),
        false => Err(Refused::NotNow("the review is not stopped")),
    }
}

/// A withdrawal gives the subject all its attempts back, so after a failing round it is for people.
pub(super) fn withdrawn(review: &Review, by: &Actor) -> Result<Vec<Event>, Refused> {
    match review.state {
        _ if review.attempts > 0 && !by.may_decide() => Err(forbidden(by)),
        State::Unopened => Err(Refused::NotNow("nothing was submitted")),
        State::Settled(settlement) => Err(Refused::Settled(settlement.into())),
        _ => Ok(vec![Event::Settled { outcome: Settlement::Stopped(Stop::Withdrawn) }]),
    }
}

/// A session that was written to begins a new review. A stopped review goes on with other work, a few times; then only a
/// person may lift it. Failed work stays failed, and rejected work stays rejected.
pub(super) fn written_to(review: &Review, by: Actor, work: &Submission, rules: &[Rule]) -> Vec<Event> {
    let same = review.is_about(work);
    match review.state {
        // A review that a session unblocked is kept, because its count must be kept.
        State::NeedsWork if !(same && review.rules == rules) && review.session_lifts == 0 => {
            vec![Event::Settled { outcome: Settlement::Stopped(Stop::Withdrawn) }]
        }
        State::Settled(Settlement::Stopped(Stop::AttemptsUsedUp | Stop::NotConverging))
            if !same && review.session_lifts < MAX_SESSION_LIFTS =>
        {
            vec![Event::Lifted { by, reason: WRITTEN_TO.to_owned() }]
        }
        _ => vec![],
    }
}

fn forbidden(by: &Actor) -> Refused {
    Refused::Forbidden(by.kind.words())
}
