//! Follows a review that another task or process performs: finished, running, or interrupted.

use super::ServerState;
use crate::Failure;
use crate::answer::v1::State;
use countersign_core::ids::ReviewId;
use countersign_engine::ledger::{Ledger, Stored, Watcher};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a waiting call checks whether the performing process still lives.
pub const LOOK: Duration = Duration::from_millis(500);

pub struct ReviewState {
    pub state: State,
    pub stored: Stored,
}

impl ReviewState {
    pub async fn of(resident: &ServerState, ledger: &Ledger, stored: Stored) -> Result<Self, Failure> {
        if stored.review.standing().is_none() && is_performed(resident, ledger, &stored).await {
            return Ok(Self { state: State::Running, stored });
        }
        // The performing process may have written its end meanwhile.
        let stored = match stored.review.standing() {
            Some(_) => stored,
            None => ledger.review(&stored.review.id).await?.unwrap_or(stored),
        };
        let ended = stored.review.standing().is_some();
        Ok(Self { state: if ended { State::Done } else { State::Interrupted }, stored })
    }
}

pub async fn is_performed(resident: &ServerState, ledger: &Ledger, stored: &Stored) -> bool {
    if resident.performs(&stored.review.id) {
        return true;
    }
    let alive = |holder: &str| ledger.is_alive(holder);
    !resident.holds(stored).await && stored.holder.as_deref().is_some_and(alive)
}

/// When a review may be read again. Reading a large one after each answer would cost more than the answer, so a change of
/// the ledger waits; the end of a review that this process performs does not.
pub struct ReadAgain {
    changes: Watcher,
    done: watch::Receiver<u64>,
    at: Instant,
}

impl ReadAgain {
    /// Make it before the review is read for the first time.
    pub async fn new(resident: &ServerState, ledger: &Ledger) -> Result<Self, Failure> {
        Ok(Self { done: resident.done(), changes: ledger.watch().await?, at: Instant::now() })
    }

    /// Notes how long the last reading took.
    pub fn took(&mut self, before: Instant) {
        self.at = before + before.elapsed() * 10;
    }

    /// Waits until the review may be read again. Where this is dropped on the way, nothing is lost.
    pub async fn due(&mut self, resident: &ServerState, review: &ReviewId) {
        let Self { changes, done, at } = self;
        let changed = async {
            tokio::time::sleep_until(*at).await;
            changes.changed().await;
        };
        let ended = async { while done.changed().await.is_ok() && resident.performs(review) {} };
        tokio::select! {
            () = changed => {}
            () = ended => {}
        }
    }
}

/// Follows a review until it has an outcome, with a time limit, or until the client is gone.
pub async fn until_it_stands(
    resident: &ServerState,
    ledger: &Ledger,
    review: &ReviewId,
    longest: Duration,
    gone: &CancellationToken,
) -> Result<ReviewState, Failure> {
    let mut again = ReadAgain::new(resident, ledger).await?;
    let deadline = Instant::now() + longest;
    loop {
        let before = Instant::now();
        let Some(stored) = ledger.review(review).await? else {
            return Err(Failure::internal(format!("review `{review}` no longer exists")));
        };
        again.took(before);
        let followed = ReviewState::of(resident, ledger, stored).await?;
        let is_over = Instant::now() >= deadline || gone.is_cancelled();
        if is_over || followed.state != State::Running {
            return Ok(followed);
        }
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep_until(deadline.min(Instant::now() + LOOK)) => {}
            () = again.due(resident, review) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// On a clock that goes on only where nothing else happens.
    #[tokio::test(start_paused = true)]
    async fn issue_19_the_end_of_a_review_wakes_who_waits_at_once() {
        let resident = ServerState::new("test", PathBuf::new(), None, CancellationToken::new());
        let (ledger, review) = (Ledger::in_memory(), ReviewId::from_text("rv-a"));
        let mut again = ReadAgain::new(&resident, &ledger).await.unwrap();
        let (before, took) = (Instant::now(), Duration::from_secs(60));
        tokio::time::advance(took).await;
        again.took(before);
        let at = Instant::now();
        resident.0.done.send_modify(|done| *done += 1);
        again.due(&resident, &review).await;
        assert_eq!(Instant::now(), at, "no time went by");
        // A change waits for as long as reading again would be dear; it is not lost meanwhile.
        let mut transaction = ledger.transaction().await.unwrap();
        transaction.note("x", 0, &[("x", "{}".to_owned())], 0).await.unwrap();
        transaction.commit().await.unwrap();
        again.due(&resident, &review).await;
        assert!(Instant::now() >= before + took * 10);
    }
}
