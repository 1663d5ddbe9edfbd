//! Which process performs a review: one at a time, and another at once if that one dies.
//! Correctness does not depend on it: the ledger refuses an append that does not continue what is stored. Holding only
//! keeps two processes from asking the same question twice.

use super::{Engine, EngineError, Result, Ticket};
use crate::ledger::Stored;
use countersign_core::ids::ReviewId;
use std::time::{Duration, Instant};

/// How often a waiting process looks whether the performing one is alive.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const STOPPED_MAX: Duration = Duration::from_secs(5);
/// How much longer than its questions take a process may record nothing.
const SILENT_MARGIN: Duration = Duration::from_secs(60);

/// While this lives, this process performs the review.
pub(super) struct Performing<'a> {
    engine: &'a Engine,
    review: ReviewId,
}

pub(super) struct Patience {
    n: u64,
    since: Instant,
    /// Since when the process is stopped, as by Ctrl-Z.
    stopped_since: Option<Instant>,
    silent: Duration,
}

impl Patience {
    fn ends(&mut self, process: Option<u32>) -> Option<String> {
        match process.is_some_and(is_stopped) {
            true => {
                let since = self.stopped_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= STOPPED_MAX {
                    return Some("is paused: continue it (`fg` or `kill -CONT`), or end it".to_owned());
                }
            }
            false => self.stopped_since = None,
        }
        let silent = self.since.elapsed();
        (silent >= self.silent).then(|| {
            let seconds = silent.as_secs();
            format!("has recorded nothing for {seconds} seconds: check what it does, or end it")
        })
    }
}

/// Whether a process is stopped by a signal, as far as this system tells.
fn is_stopped(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program stands in parentheses before it, and may contain anything.
    stat.rsplit_once(')').is_some_and(|(_, rest)| matches!(rest.trim_start().chars().next(), Some('T' | 't')))
}

impl Drop for Performing<'_> {
    fn drop(&mut self) {
        if let Ok(mut driving) = self.engine.0.driving.lock() {
            driving.remove(&self.review);
        }
    }
}

impl Engine {
    /// Begins to perform a review, unless a living process does so already.
    pub(super) async fn perform(&self, stored: &Stored) -> Result<Option<Performing<'_>>> {
        let review = stored.review.id.clone();
        let ours = self.holds(stored);
        if !ours && stored.holder.as_deref().is_some_and(|holder| self.0.ledger.is_alive(holder)) {
            return Ok(None);
        }
        if !self.0.driving.lock().is_ok_and(|mut driving| driving.insert(review.clone())) {
            return Ok(None);
        }
        let performing = Performing { engine: self, review: review.clone() };
        let taken = ours || self.take_over(&review, stored.holder.as_deref()).await?;
        Ok(taken.then_some(performing))
    }

    /// Whether a review is this process's to perform.
    pub fn holds(&self, stored: &Stored) -> bool {
        stored.holder.as_deref() == Some(self.0.holder.id())
    }

    pub(super) fn patience(&self, ticket: &Ticket) -> Patience {
        let planner = &self.0.planner;
        let timeouts = ticket.prepared.plan.assignments.iter().flat_map(|assignment| {
            assignment.candidates.iter().map(|candidate| planner.timeout(assignment, &candidate.reviewer))
        });
        // A question may be asked twice, where the first reply cannot be used.
        let silent = timeouts.max().unwrap_or_default() * 2 + SILENT_MARGIN;
        Patience { n: 0, since: Instant::now(), stopped_since: None, silent }
    }

    /// Waits until the process that performs a review is gone. One that is stopped, or that records nothing for longer
    /// than its questions may take, is not waited for.
    pub(super) async fn until_gone(&self, stored: &Stored, patience: &mut Patience) -> Result<()> {
        let (review, ledger) = (&stored.review.id, &self.0.ledger);
        let holder = stored.holder.as_deref();
        let ours = self.holds(stored);
        let alive = || match holder {
            _ if ours => self.0.driving.lock().is_ok_and(|driving| driving.contains(review)),
            Some(holder) => ledger.is_alive(holder),
            None => false,
        };
        if patience.n != stored.n {
            (patience.n, patience.since) = (stored.n, Instant::now());
        }
        while alive() {
            let process = holder.filter(|_| !ours).and_then(|holder| ledger.process_of(holder));
            if let Some(why) = patience.ends(process) {
                let by = process.map_or("another process".to_owned(), |id| format!("process {id}"));
                return Err(EngineError::HeldUp(format!(
                    "review {review} is being judged by {by}, which {why}"
                )));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Takes a review over from a dead holder; false if another process was faster.
    async fn take_over(&self, review: &ReviewId, gone: Option<&str>) -> Result<bool> {
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
