//! Reviewers: who rules. Each gets a [`Brief`] and gives back what it was [`Told`]; none decides anything.

mod brief;
mod checking;
pub mod checks;
mod claude;
mod command;
pub mod replay;
mod run_check;

pub use brief::{Brief, Failed, Told};
pub use checking::{Files, rule_by_checks};
pub use claude::Claude;
pub use command::Command;
