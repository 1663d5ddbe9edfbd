//! The program as users run it: one binary, a module per concept.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod adoption;
mod ask;
mod bad_configuration;
mod budget;
mod change;
mod choosing;
mod ci;
mod contents;
mod crash;
mod deciding;
mod demo;
mod dispute;
mod doctor;
mod doctor_entries;
mod down;
mod findings;
mod formats;
mod free_text;
mod gate_programs;
mod hook;
mod init;
mod init_agents;
mod jobs_files;
mod json;
mod json_docs;
mod json_golden;
mod ledger;
mod log;
mod logging;
mod messages;
mod mistakes;
mod notify;
mod page;
mod pages;
mod paths;
mod people;
mod permissions;
mod person;
mod private;
mod process;
mod program_replies;
mod progress;
mod qr;
mod redaction;
mod replies;
mod reuse;
mod reviewers;
mod run;
mod scale;
mod serve;
mod services;
mod shells;
mod signing;
mod stale;
mod standing;
mod task;
mod tui;
mod typed_answers;
mod untrusted;
mod watch;

use countersign_testkit::Project;

/// A new project for the program under test.
fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_countersign")).trusting()
}

const COMPLETE: &str = "Complete=Is it complete?";
