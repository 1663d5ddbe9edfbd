//! The engine's integration tests: one binary, a module per room.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod change;
mod config;
mod consult;
mod ledger;
mod quality_gate;
mod standing;
