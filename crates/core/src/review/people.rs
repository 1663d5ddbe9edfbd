//! What people may do with a review: decide in place of its verdict, lift it, withdraw it. And the little that the session
//! of an agent may do after its user wrote to it.

use super::{Actor, Channel, Decision, Event, Refused, Review, State, Verb};
use crate::judge::RoundEnd;
use crate::outcome::{NoVerdict, Settlement, Stop};
use crate::policy::{Decisions, MAX_EMPTY_ROUNDS, MAX_SESSION_LIFTS, Overrides};
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
    if awaited {
        review.permits(&decision.by)?;
    }
    match review.policy.overrides {
        Overrides::Forbid if overrides => return Err(Refused::NoOverrides),
        Overrides::PeopleOnly | Overrides::Forbid => review.permits(&decision.by)?,
        Overrides::Allow => {}
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
    review.permits(&by)?;
    let is_stopped = match review.state {
        State::Settled(Settlement::Stopped(why)) => why != Stop::Withdrawn,
        State::NoVerdict(why) => why == NoVerdict::Budget || review.empty_rounds >= MAX_EMPTY_ROUNDS,
        // Other work would replace the round under way, and would have to wait.
        State::Judging => review.empty_rounds + 1 >= MAX_EMPTY_ROUNDS,
        _ => false,
    };
    match is_stopped {
        true => Ok(vec![Event::Lifted { by, reason }]),
        false => Err(Refused::NotNow("the review is not stopped")),
    }
}

/// A withdrawal gives the subject all its attempts back, so after a failing round it is for people.
pub(super) fn withdrawn(review: &Review, by: &Actor) -> Result<Vec<Event>, Refused> {
    if review.attempts > 0 {
        review.permits(by)?;
    }
    match review.state {
        State::Unopened => Err(Refused::NotNow("nothing was submitted")),
        State::Settled(settlement) => Err(Refused::Settled(settlement.into())),
        _ => Ok(vec![Event::Settled { outcome: Settlement::Stopped(Stop::Withdrawn) }]),
    }
}

/// A session that was written to gives other work all attempts, also where the review was stopped: a few times, because an
/// agent could say so for ever. Then only a person may lift it. Failed work stays failed, and rejected work stays rejected.
pub(super) fn written_to(review: &Review, by: Actor, work: &Submission, rules: &[Rule]) -> Vec<Event> {
    let same = review.is_about(work);
    let lift = || vec![Event::Lifted { by, reason: WRITTEN_TO.to_owned() }];
    match review.state {
        _ if review.session_lifts >= MAX_SESSION_LIFTS => vec![],
        State::NeedsWork if !(same && review.rules == rules) => lift(),
        State::Settled(Settlement::Stopped(Stop::AttemptsUsedUp | Stop::NotConverging)) if !same => lift(),
        _ => vec![],
    }
}

impl Review {
    /// Refuses who may not do what is for people, by the policy of this review.
    pub fn permits(&self, by: &Actor) -> Result<(), Refused> {
        match self.policy.decisions {
            _ if !by.may_decide() => Err(Refused::Forbidden(by.kind.words())),
            Decisions::Signed if by.channel != Channel::Signed => Err(Refused::Unsigned),
            Decisions::Signed | Decisions::Terminal => Ok(()),
        }
    }
}
