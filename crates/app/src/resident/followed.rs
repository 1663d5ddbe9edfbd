//! How a review stands for somebody who does not perform it: done, under way, or left by whoever performed it.

use super::Resident;
use crate::Failure;
use countersign_core::ids::ReviewId;
use countersign_engine::ledger::{Ledger, Stored};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often somebody who waits looks whether the one that performs still lives.
pub const LOOK: Duration = Duration::from_millis(500);

/// How a review stands when nobody waits for it any longer.
pub enum Followed {
    /// It waits for whoever handed it in, or it is over.
    Stands(Stored),
    /// It is under way.
    Running(Stored),
    /// Nobody performs it any more: the same files have to be handed in again.
    Interrupted(Stored),
}

impl Followed {
    /// The review.
    pub fn stored(&self) -> &Stored {
        match self {
            Self::Stands(stored) | Self::Running(stored) | Self::Interrupted(stored) => stored,
        }
    }

    /// How a review stands that was read just now.
    pub async fn of(resident: &Resident, ledger: &Ledger, stored: Stored) -> Result<Self, Failure> {
        if stored.review.standing().is_some() {
            return Ok(Self::Stands(stored));
        }
        if is_performed(resident, ledger, &stored).await {
            return Ok(Self::Running(stored));
        }
        // Whoever performed it wrote what there was to write before that showed.
        let stored = ledger.review(&stored.review.id).await?.unwrap_or(stored);
        Ok(match stored.review.standing() {
            Some(_) => Self::Stands(stored),
            None => Self::Interrupted(stored),
        })
    }
}

/// Whether anybody performs a review.
pub async fn is_performed(resident: &Resident, ledger: &Ledger, stored: &Stored) -> bool {
    // Who waits here for another to perform it takes over at once where that one is gone.
    if resident.performs(&stored.review.id) {
        return true;
    }
    let alive = |holder: &str| ledger.is_alive(holder);
    !resident.holds(stored).await && stored.holder.as_deref().is_some_and(alive)
}

/// How many questions are answered, of how many.
pub fn counted(stored: &Stored) -> (usize, usize) {
    let Some(round) = stored.review.round() else { return (0, 0) };
    let done = round.assignments.iter().filter(|assignment| round.answer_to(assignment).is_some());
    (done.count(), round.assignments.len())
}

/// Follows a review until it stands, for so long at most, or until nobody waits any more.
pub async fn until_it_stands(
    resident: &Resident,
    ledger: &Ledger,
    review: &ReviewId,
    longest: Duration,
    gone: &CancellationToken,
) -> Result<Followed, Failure> {
    let mut changes = ledger.watch().await?;
    let deadline = Instant::now() + longest;
    loop {
        let before = Instant::now();
        let Some(stored) = ledger.review(review).await? else {
            return Err(Failure::internal(format!("there is no review `{review}` any more")));
        };
        let followed = Followed::of(resident, ledger, stored).await?;
        let is_over = Instant::now() >= deadline || gone.is_cancelled();
        if is_over || !matches!(followed, Followed::Running(_)) {
            return Ok(followed);
        }
        // Reading a large review again after each answer would cost more than the answer.
        tokio::time::sleep_until((before + before.elapsed() * 10).min(deadline)).await;
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep_until(deadline.min(Instant::now() + LOOK)) => {}
            () = changes.changed() => {}
        }
    }
}
