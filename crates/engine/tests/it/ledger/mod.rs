//! The ledger: what is recorded stays, is read back the same, and an edit by hand is seen.

mod compact;
mod conformance;
mod damage;
mod disk;
mod fixture;
mod holders;
mod kept;
mod processes;
mod sqlite;
mod tables;
mod upgrade;

/// A page that has all rows.
pub fn rows(open_only: bool) -> countersign_engine::ledger::Filter {
    countersign_engine::ledger::Filter { open_only, before: None, limit: 99 }
}
