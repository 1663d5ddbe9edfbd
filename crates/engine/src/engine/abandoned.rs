//! Reviews that nothing can continue: their command was ended before the verdict, and their work has no name under which it
//! could be submitted again.

use super::{EngineError, Result};
use crate::fresh::now_ms;
use crate::ledger::{Ledger, LedgerError, Row};
use countersign_core::policy::Attempts;
use countersign_core::review::{Actor, ActorKind, Channel, Input, State, step};

/// Withdraws those among some reviews of these doors, which give work without a name a subject of its own; whether there were
/// any. A ledger that cannot be written stays as it is.
pub async fn withdraw_abandoned(ledger: &Ledger, rows: &[Row], doors: &[&str]) -> Result<bool> {
    let is_left = |row: &&Row| {
        let holder = row.holder.as_deref();
        row.state == State::Judging
            && row.standing.is_none()
            && doors.contains(&row.subject.door())
            && !holder.is_some_and(|holder| ledger.is_alive(holder))
    };
    let mut any = false;
    for row in rows.iter().filter(is_left) {
        match withdraw(ledger, row).await {
            Err(EngineError::Ledger(LedgerError::ReadOnly(_))) => return Ok(any),
            withdrawn => any |= withdrawn?,
        }
    }
    Ok(any)
}

async fn withdraw(ledger: &Ledger, row: &Row) -> Result<bool> {
    // Without a transaction first: most reviews have a name, and are left alone like those that cannot be read.
    let known = ledger.review(&row.id).await.ok().flatten();
    if known.is_none_or(|known| known.review.policy.attempts != Attempts::Once) {
        return Ok(false);
    }
    let mut transaction = ledger.transaction().await?;
    let Some(stored) = transaction.review(&row.id).await? else { return Ok(false) };
    if stored.n != row.n || stored.holder != row.holder {
        return Ok(false);
    }
    let by = Actor::new("countersign", ActorKind::Program, Channel::Gate);
    let events = step(&stored.review, Input::Withdrawn(by))?;
    transaction.append(stored, &events, now_ms()).await?;
    transaction.commit().await?;
    Ok(true)
}
