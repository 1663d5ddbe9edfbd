//! Follows a review that another task or process performs: finished, running, or interrupted.

use super::ServerState;
use crate::Failure;
use crate::answer::v1::State;
use countersign_core::ids::ReviewId;
use countersign_engine::ledger::{Ledger, Stored};
use std::time::Duration;
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

/// Follows a review until it has an outcome, with a time limit, or until the client is gone.
pub async fn until_it_stands(
    resident: &ServerState,
    ledger: &Ledger,
    review: &ReviewId,
    longest: Duration,
    gone: &CancellationToken,
) -> Result<ReviewState, Failure> {
    let mut changes = ledger.watch().await?;
    let deadline = Instant::now() + longest;
    loop {
        let before = Instant::now();
        let Some(stored) = ledger.review(review).await? else {
            return Err(Failure::internal(format!("review `{review}` no longer exists")));
        };
        let followed = ReviewState::of(resident, ledger, stored).await?;
        let is_over = Instant::now() >= deadline || gone.is_cancelled();
        if is_over || followed.state != State::Running {
            return Ok(followed);
        }
        // Reading a large review after each answer would cost more than the answer.
        tokio::time::sleep_until((before + before.elapsed() * 10).min(deadline)).await;
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep_until(deadline.min(Instant::now() + LOOK)) => {}
            () = changes.changed() => {}
        }
    }
}
