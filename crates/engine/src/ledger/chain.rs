//! Checks the chain over events as they come, one after the other: that none was changed, and none is missing. The bodies
//! of pruned reviews are gone; what is left of their events is held against the record of the pruning.

use super::entry::Line;
use super::prune::{self, Pruning};
use super::{LedgerError, Result};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Chain {
    last: u64,
    /// What was found of pruned events, by the number of the event that records the pruning.
    found: BTreeMap<u64, prune::Remains>,
    recorded: BTreeMap<u64, Pruning>,
}

impl Chain {
    /// The next event.
    pub(super) fn add(&mut self, line: &Line) -> Result<()> {
        if line.seq != self.last + 1 {
            return Err(LedgerError::Tampered { seq: self.last + 1 });
        }
        self.last = line.seq;
        match (line.check(), prune::record_of(line)) {
            (Ok(()), _) => {
                if let Some(pruning) = prune::read(line)? {
                    self.recorded.insert(line.seq, pruning);
                }
                Ok(())
            }
            (Err(_), Some(record)) if record > line.seq => {
                self.found.entry(record).or_default().add(line);
                Ok(())
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// After the last event: whether exactly those bodies are gone of which that is recorded. Returns what was pruned.
    pub(super) fn end(self) -> Result<BTreeMap<u64, Pruning>> {
        let mut found = self.found;
        for (seq, pruning) in &self.recorded {
            if found.remove(seq).unwrap_or_default().digest() != pruning.digest {
                return Err(LedgerError::Tampered { seq: *seq });
            }
        }
        match found.into_values().next() {
            Some(remains) => Err(LedgerError::Tampered { seq: remains.first() }),
            None => Ok(self.recorded),
        }
    }
}
