//! Task reviews that are under way in any process.

use super::event::{self, Happened, ServiceEvent};
use super::lock;
use countersign_engine::ledger::{Ledger, LedgerError};

/// Reviews under way, the oldest first. Events are read only where a lock is held.
pub async fn active(ledger: &Ledger) -> Result<Vec<Happened>, LedgerError> {
    let Some(dir) = ledger.dir().filter(|dir| lock::is_any_held(dir)) else { return Ok(vec![]) };
    let latest = event::latest(event::all(ledger).await?).into_iter();
    let started = latest.filter_map(|event| match event {
        ServiceEvent::ReviewStarted(happened) => Some(happened),
        _ => None,
    });
    // A review whose process ended holds no lock.
    Ok(started.filter(|one| lock::is_held(dir, &lock::name_of(&one.subject))).collect())
}
