//! What becomes of the review before, when an agent stops again.

use countersign_core::outcome::{Outcome, Stop};
use countersign_core::review::{Review, State};
use countersign_core::submission::Submission;

/// What is done before work is handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing: the review goes on, or stays what it is.
    Nothing,
    /// The review is over, because somebody wrote to the agent; a new one begins.
    TakeBack,
    /// The same for one that was stopped.
    LetGoAndTakeBack,
}

/// Decides. Somebody who writes to an agent begins a new review with all its attempts; an agent that only went on because it
/// was held does not. What was stopped stays so until the work is another, and what a person rejected stays rejected.
pub fn before(latest: Option<&Review>, was_held: bool, now: &Submission) -> Before {
    let Some(review) = latest.filter(|_| !was_held) else { return Before::Nothing };
    let same = review.round().is_some_and(|round| round.submission.is_same_work(now));
    match review.state {
        State::NeedsWork => Before::TakeBack,
        State::Settled(Outcome::Stopped(Stop::AttemptsUsedUp | Stop::NotConverging)) if !same => {
            Before::LetGoAndTakeBack
        }
        _ => Before::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::outcome::NoVerdict;

    #[test]
    fn who_writes_to_an_agent_begins_anew() {
        use Before::{LetGoAndTakeBack, Nothing, TakeBack};
        let work = Submission::new(&[], vec![], vec![], None);
        let stopped = |why| State::Settled(Outcome::Stopped(why));
        let table = [
            (State::NeedsWork, TakeBack),
            (State::Judging, Nothing),
            (State::NoVerdict(NoVerdict::Timeout), Nothing),
            (State::AwaitingPerson, Nothing),
            (State::Settled(Outcome::Passed), Nothing),
            (stopped(Stop::AttemptsUsedUp), LetGoAndTakeBack),
            (stopped(Stop::NotConverging), LetGoAndTakeBack),
            (stopped(Stop::Rejected), Nothing),
            (stopped(Stop::Withdrawn), Nothing),
        ];
        for (state, expected) in table {
            let review = Review { state, ..Review::default() };
            assert_eq!(before(Some(&review), false, &work), expected, "{state:?}");
            assert_eq!(before(Some(&review), true, &work), Nothing, "{state:?}");
        }
        assert_eq!(before(None, false, &work), Nothing);
    }
}
