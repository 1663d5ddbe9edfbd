//! What happens in a project, live: every event of every process, once, in order.

use crate::{Code, Failure};
use countersign_engine::ledger::{Ledger, LedgerError, Recorded, Watcher};
use std::collections::VecDeque;

/// How many events are read at once.
const PAGE: u32 = 200;

/// A place in the ledger, and everything after it.
pub struct Feed {
    ledger: Ledger,
    watcher: Watcher,
    last: u64,
    read: VecDeque<Recorded>,
}

impl Feed {
    /// Everything after the event of this number; without one, everything from now on.
    pub async fn after(ledger: Ledger, seq: Option<u64>) -> Result<Self, LedgerError> {
        // First the watcher, then the reading: so nothing falls between them.
        let watcher = ledger.watch().await?;
        let last = match seq {
            Some(seq) => seq,
            None => ledger.last_seq().await?,
        };
        Ok(Self { ledger, watcher, last, read: VecDeque::new() })
    }

    /// The next event; waits for it. Giving the wait up loses nothing.
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

/// Refuses an event to begin after that the ledger never had: it is another ledger than the one that had it, and waiting
/// for the event would leave out what happens until then.
pub async fn known(ledger: &Ledger, after: Option<u64>) -> Result<(), Failure> {
    let last = ledger.last_seq().await?;
    match after {
        Some(after) if after > last => {
            let words = format!("the ledger has no event {after}: its last is {last}");
            Err(Failure { code: Code::NoEvent, ..Failure::usage(words) }
                .hint("begin after 0, or with what happens from now on"))
        }
        _ => Ok(()),
    }
}
