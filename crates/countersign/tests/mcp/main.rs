//! TEMPORARY main until merged.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    dead_code,
    reason = "a test that cannot go on should say where"
)]
mod client;
mod jobs;
use countersign_testkit::Project;
fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_countersign"))
}
