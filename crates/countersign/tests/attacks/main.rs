//! Tricks by which an agent could get bad work through a gate, each played from outside with real git and real processes.
//! Every test notes its row: `cargo xtask attack` prints them as a table.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod judge;
mod kit;
mod rules;
mod trust;
