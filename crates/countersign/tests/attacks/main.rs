//! Tricks by which an agent could get bad work through a gate, each played from outside with real git and real processes.
//! Every test notes its row: `cargo xtask attack` prints them as a table.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod adoption;
mod answers;
mod cache;
mod hidden;
mod honest;
mod judge;
mod kit;
mod ledger;
mod projects;
mod record;
mod room;
mod rules;
mod same_bytes;
mod steered;
mod terminals;
mod tested;
mod tested_honestly;
mod threat_model;
mod told;
mod trust;
mod untouched;

use countersign_testkit::Project;

/// A new project for the program under test.
fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_countersign")).trusting()
}
