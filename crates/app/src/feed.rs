//! The live events of a ledger: those of all processes, each once, in order.

use crate::{Code, Failure};
use countersign_engine::ledger::{Ledger, LedgerError, Recorded, Watcher};
use std::collections::VecDeque;

const PAGE: u32 = 200;

pub struct Feed {
    ledger: Ledger,
    watcher: Watcher,
    last: u64,
    read: VecDeque<Recorded>,
}

impl Feed {
    /// All events after this number; without one, all new events.
    pub async fn after(ledger: Ledger, seq: Option<u64>) -> Result<Self, LedgerError> {
        // Watching begins before reading, so that no event is lost.
        let watcher = ledger.watch().await?;
        let last = match seq {
            Some(seq) => seq,
            None => ledger.last_seq().await?,
        };
        Ok(Self { ledger, watcher, last, read: VecDeque::new() })
    }

    /// Waits for the next event. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Result<Recorded, LedgerError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(event);
            }
            let page = self.ledger.feed(self.last, PAGE).await?;
            match page.last() {
                Some(event) => self.last = event.seq,
                None => self.watcher.changed().await,
            }
            self.read.extend(page);
        }
    }
}

/// Refuses a number that the ledger does not have yet: it comes from another ledger, and waiting for it would skip
/// events.
pub async fn known(ledger: &Ledger, after: Option<u64>) -> Result<(), Failure> {
    let last = ledger.last_seq().await?;
    match after {
        Some(after) if after > last => {
            let words = format!("the ledger has no event {after}: its last is {last}");
            Err(Failure { code: Code::NoEvent, ..Failure::usage(words) }
                .hint("begin after 0 for all events; without a number only new events come"))
        }
        _ => Ok(()),
    }
}
