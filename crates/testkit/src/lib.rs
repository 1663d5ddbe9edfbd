//! For tests only: temporary projects, the program as a user runs it, and scripted reviewers.
//!
//! A scripted reviewer is a shell script: it stands in for a paid model at the process boundary, and logs
//! every question it gets. [`Messages`] and [`Chat`] stand in for the services behind real agent
//! programs; other [`Dialect`]s for other services.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod attack;
mod chat;
mod gemini;
mod golden;
pub mod hiding;
mod judge;
mod loopback;
mod messages;
mod project;
mod ran;
mod repository;
mod responses;
mod served;
mod terminal;
mod wire;

pub use attack::{honest as honest_row, row as attack_row};
pub use chat::{Chat, ChatApi};
pub use gemini::{Gemini, GeminiApi};
pub use golden::Golden;
pub use judge::Judge;
pub use loopback::{Act, Dialect, Loopback};
pub use messages::{Messages, MessagesApi};
pub use project::Project;
pub use ran::{Ran, Running, bound_by_permissions, eventually, peak_memory_kib};
pub use repository::Repository;
pub use responses::{Responses, ResponsesApi};
pub use served::{Answered, Served};
pub use terminal::Terminal;
pub use wire::Asked;
