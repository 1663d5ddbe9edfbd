//! Which decisions about a review are possible now. The engine has the last word; this only saves a person from trying.

use crate::decide::Action;
use countersign_core::outcome::{Settlement, Stop};
use countersign_core::policy::Overrides;
use countersign_core::review::{Review, State};

/// The actions that make sense in this state, the usual one first.
pub fn possible(review: &Review) -> Vec<Action> {
    let overrides = review.policy.overrides != Overrides::Forbid;
    let mut actions = match review.state {
        State::Unopened => vec![],
        State::Judging => vec![Action::Approve, Action::Skip, Action::Reject, Action::Withdraw],
        State::AwaitingPerson => vec![Action::Approve, Action::Fix, Action::Reject, Action::Skip],
        State::NeedsWork => vec![Action::Approve, Action::Reject, Action::Skip, Action::Withdraw],
        State::NoVerdict(_) => vec![Action::Approve, Action::Unblock, Action::Reject, Action::Skip],
        State::Settled(Settlement::Stopped(Stop::Withdrawn)) => vec![],
        State::Settled(Settlement::Stopped(Stop::Rejected)) => vec![Action::Unblock],
        State::Settled(Settlement::Stopped(_)) => {
            vec![Action::Unblock, Action::Fix, Action::Approve, Action::Skip]
        }
        State::Settled(_) => vec![],
    };
    // What passed and waits is approved without an override.
    let needs_override = |action: &Action| match action {
        Action::Approve => review.state != State::AwaitingPerson,
        Action::Skip => true,
        _ => false,
    };
    actions.retain(|action| overrides || !needs_override(action));
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::NoVerdict;

    #[test]
    fn issue_21_3_actions_fit_the_state_of_a_review() {
        let of = |state, overrides| {
            let mut review = Review { state, ..Review::default() };
            review.policy.overrides = overrides;
            possible(&review)
        };
        assert_eq!(of(State::Unopened, Overrides::Allow), []);
        assert_eq!(of(State::Settled(Settlement::Passed), Overrides::Allow), []);
        assert_eq!(of(State::Settled(Settlement::Stopped(Stop::Withdrawn)), Overrides::Allow), []);
        let rejected = Settlement::Stopped(Stop::Rejected);
        assert_eq!(of(State::Settled(rejected), Overrides::PeopleOnly), [Action::Unblock]);
        let stopped = State::Settled(Settlement::Stopped(Stop::AttemptsUsedUp));
        assert_eq!(of(stopped, Overrides::Forbid), [Action::Unblock, Action::Fix]);
        assert!(of(stopped, Overrides::PeopleOnly).contains(&Action::Approve));
        assert!(of(State::AwaitingPerson, Overrides::Forbid).contains(&Action::Approve));
        assert!(of(State::NoVerdict(NoVerdict::Timeout), Overrides::Allow).contains(&Action::Unblock));
    }
}
