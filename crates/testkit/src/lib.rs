//! For tests only: temporary projects, the program as a user runs it, and scripted reviewers.
//!
//! A scripted reviewer is a shell script: it stands in for a paid model at the process boundary, and logs
//! every question it gets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod judge;
mod project;
mod ran;

pub use judge::Judge;
pub use project::Project;
pub use ran::{Ran, Running, eventually};
