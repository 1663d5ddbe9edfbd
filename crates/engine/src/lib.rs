//! What Countersign does: the loop, and the rooms it works in.
//!
//! The rooms (`config`, `contents`, `ledger`, `reviewer`, `worker`, `workspace`) do not call each other; the engine calls them.
//! `process`, `scratch`, `private`, `shell`, `tested`, `git`, `http`, `webhook`, `programs`, `installed`, `surroundings`, `ssh`, `fresh` and
//! `yaml` are the ground floor that every room may call. What decides anything is in `countersign_core`.
//! `fault` lets a test end the process at a chosen write.
//! `quality_gate` is the gate as a library: a face of the engine on a ledger in memory.

pub mod config;
pub mod contents;
pub mod engine;
mod fault;
pub mod fresh;
pub mod git;
mod http;
pub mod installed;
pub mod ledger;
pub mod private;
pub mod process;
pub mod programs;
pub mod quality_gate;
pub mod reviewer;
pub mod scratch;
pub mod shell;
pub mod ssh;
pub mod stamp;
mod surroundings;
pub mod tested;
pub mod webhook;
pub mod worker;
pub mod workspace;
pub mod yaml;
