//! `PLAN.md`: phases with tasks, how they stand, and what their last review said. Pure.
//!
//! A plan that is not of this form (no phase has a task) has no tasks, and nothing is wrong with it.

mod edit;
mod line;
mod read;
mod scan;

pub use edit::{EditError, write_back};
pub use read::{Plan, PlanTask, Reading, parse};

use countersign_core::answer::ReviewResult;

/// The plan of a project, unless it is said otherwise.
pub const FILE: &str = "PLAN.md";
/// A plan may be this large.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;
/// The most issues that are written under a task.
pub const MAX_WRITTEN_ISSUES: usize = 20;
/// The longest issue that is written under a task.
pub const MAX_ISSUE_BYTES: usize = 500;

/// The last review of a task, as it stands under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewBlock {
    /// The failing review it was, from 1.
    pub attempt: u32,
    /// What it said.
    pub last_result: ReviewResult,
    /// What it found.
    pub issues: Vec<String>,
    /// When, in UTC.
    pub reviewed_at: String,
}

#[cfg(test)]
mod tests;
