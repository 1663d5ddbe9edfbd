//! What handing something in means, by the state of its subject. One table for every door.

use super::{Review, State};
use crate::digest::Digest;
use crate::judge::RoundEnd;
use crate::outcome::{Settlement, Stop};
use crate::plan::Assignment;

/// What `submit` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Open,
    /// The same work is being judged already: wait for its end.
    Attach,
    /// Other work is being judged: it is superseded by this.
    Supersede,
    Recorded,
    NextRound,
    /// Ask the author again for a self-review.
    AskAgain,
}

/// Finds the route. `latest` is the subject's latest review; `assignments` would be asked now; `fresh` ignores what passed.
pub fn route(latest: Option<&Review>, digest: &Digest, assignments: &[Assignment], fresh: bool) -> Route {
    let Some(review) = latest else { return Route::Open };
    let same = review.digest() == Some(digest);
    // A review that was stopped in the middle of a round and lifted has no answer to that round.
    let undelivered = !fresh
        && !review.has_withdrawn()
        && review.round().is_some_and(|round| round.end == Some(RoundEnd::NeedsWork) && !round.delivered);
    match review.state {
        State::Unopened => Route::Open,
        State::Judging if review.waits_for_self_review() && same => Route::AskAgain,
        State::Judging if same => Route::Attach,
        State::Judging => Route::Supersede,
        State::NeedsWork if same && undelivered => Route::Recorded,
        State::AwaitingPerson if same => Route::Recorded,
        State::NeedsWork | State::NoVerdict(_) | State::AwaitingPerson => Route::NextRound,
        State::Settled(Settlement::Stopped(Stop::Withdrawn)) => Route::Open,
        State::Settled(Settlement::Stopped(_)) => Route::Recorded,
        // A person who asked once and got no pass starts a new review; only a pass is answered from the record.
        State::Settled(Settlement::Passed | Settlement::Overridden | Settlement::Skipped) if fresh => {
            Route::Open
        }
        State::Settled(Settlement::Passed)
            if same && review.round().is_some_and(|r| r.answers_all(assignments)) =>
        {
            Route::Recorded
        }
        State::Settled(Settlement::Overridden | Settlement::Skipped) if same => Route::Recorded,
        State::Settled(_) => Route::Open,
    }
}
