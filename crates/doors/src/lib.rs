//! The doors: each knows the files and words of one dialect and the engine, and no other door.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")
)]

mod circles;
pub mod jobs;
pub mod qr;
pub mod run;
pub mod service;
