//! The ledger: what is recorded stays, is read back the same, and an edit by hand is seen.

mod conformance;
mod damage;
mod disk;
mod fixture;
mod holders;
mod processes;
mod sqlite;
mod upgrade;
