//! The ledger: what is recorded stays, is read back the same, and an edit by hand is seen.

mod damage;
mod disk;
mod fixture;
mod holders;
mod notes;
mod processes;
mod reading;
mod row_is_fold;
mod rulings;
mod upgrade;
mod watching;
mod writing;
