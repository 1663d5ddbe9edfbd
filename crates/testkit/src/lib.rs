//! For tests only: temporary projects, the program as a user runs it, and scripted reviewers.
//!
//! A scripted reviewer is a shell script: it stands in for a paid model at the process boundary, and logs
//! every question it gets. [`Messages`] stands in for the service behind a real agent program; other
//! [`Dialect`]s for other services.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod chat;
mod judge;
mod loopback;
mod messages;
mod project;
mod ran;
mod wire;

pub use chat::{Chat, ChatApi};
pub use judge::Judge;
pub use loopback::{Act, Dialect, Loopback};
pub use messages::{Messages, MessagesApi};
pub use project::Project;
pub use ran::{Ran, Running, eventually};
pub use wire::Asked;
