//! Reviewers: each gets a [`Brief`] and gives back [`ReviewerReply`]. Outcomes are decided in core.

mod agent;
mod brief;
mod checking;
pub mod checks;
mod command;
mod library;
mod marked;
mod patience;
pub mod replay;
pub mod service;

pub use agent::Agent;
pub use brief::{Asks, Brief, Failed, ReviewerReply};
pub use checking::{Files, LetGo, rule_by_checks};
pub use command::Command;
pub use library::{Asked, CliError, CliQuestion, EndsWith, Library, ReviewerCli};
pub use marked::Marked;
pub use service::Service;
