//! Who performs a review: one process at a time, and at once another if that one dies.
//!
//! Holding is no lock on the truth. The ledger refuses an append that does not continue what is stored, and
//! that alone keeps it right; holding only keeps two processes from asking the same question twice.

use super::{Engine, EngineError};
use crate::ledger::{Stored, is_alive};
use countersign_core::ids::ReviewId;
use std::time::Duration;

/// How often somebody who waits looks whether the one that performs still lives.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// While this lives, this process performs the review.
pub(super) struct Performing<'a> {
    engine: &'a Engine,
    review: ReviewId,
}

impl Drop for Performing<'_> {
    fn drop(&mut self) {
        if let Ok(mut driving) = self.engine.0.driving.lock() {
            driving.remove(&self.review);
        }
    }
}

impl Engine {
    /// Begins to perform a review, unless somebody alive does so already.
    pub(super) async fn perform(&self, stored: &Stored) -> Result<Option<Performing<'_>>, EngineError> {
        let review = stored.review.id.clone();
        let ours = stored.holder.as_deref() == Some(self.0.holder.id());
        if !ours && stored.holder.as_deref().is_some_and(|holder| is_alive(self.0.ledger.dir(), holder)) {
            return Ok(None);
        }
        let begun = self.0.driving.lock().is_ok_and(|mut driving| driving.insert(review.clone()));
        if !begun {
            return Ok(None);
        }
        let performing = Performing { engine: self, review: review.clone() };
        if ours || self.take_over(&review, stored.holder.as_deref()).await? {
            Ok(Some(performing))
        } else {
            Ok(None)
        }
    }

    /// Whether a review is this process's to perform.
    pub fn holds(&self, stored: &Stored) -> bool {
        stored.holder.as_deref() == Some(self.0.holder.id())
    }

    /// Waits until a review may have nobody any more who performs it.
    pub(super) async fn until_gone(&self, review: &ReviewId, holder: Option<&str>) {
        let alive = || match holder {
            Some(holder) if holder == self.0.holder.id() => {
                self.0.driving.lock().is_ok_and(|driving| driving.contains(review))
            }
            Some(holder) => is_alive(self.0.ledger.dir(), holder),
            None => false,
        };
        while alive() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Takes a review over from a holder that is gone; false if somebody else was faster.
    async fn take_over(&self, review: &ReviewId, gone: Option<&str>) -> Result<bool, EngineError> {
        let mut transaction = self.0.ledger.transaction().await?;
        let now = transaction.review(review).await?.and_then(|stored| stored.holder);
        if now.as_deref() != gone {
            return Ok(false);
        }
        transaction.set_holder(review, Some(self.0.holder.id())).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
