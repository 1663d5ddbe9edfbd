//! Real agent programs, against a service on loopback. `cargo xtask test` installs them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod bench;
mod real_claude;
mod real_codex;
mod real_fall_over;
mod real_gemini;
mod real_hooks;
mod real_matrix;
mod real_opencode;
mod real_qr;
mod real_run;
mod real_task;
mod real_tricks;
mod real_wiring;
mod real_workflows;
