//! Reviews of tasks that are under way now, in whichever process.

use super::event::{self, Happened, ServiceEvent};
use super::lock;
use countersign_engine::ledger::{Ledger, LedgerError};

/// What is under review now, the one that began first first. Events are read only where somebody holds a lock.
pub async fn active(ledger: &Ledger) -> Result<Vec<Happened>, LedgerError> {
    let Some(dir) = ledger.dir().filter(|dir| lock::is_any_held(dir)) else { return Ok(vec![]) };
    let latest = event::latest(event::all(ledger).await?).into_iter();
    let started = latest.filter_map(|event| match event {
        ServiceEvent::ReviewStarted(happened) => Some(happened),
        ServiceEvent::ReviewCompleted(_) | ServiceEvent::ReviewFailed(_) => None,
    });
    // One whose process is gone holds no lock any more.
    Ok(started.filter(|one| lock::is_held(dir, &lock::name_of(&one.subject))).collect())
}
