//! The format of `PLAN.md`: phases with tasks, their statuses and last reviews. It reads no files. A file in which no
//! phase has a task is no plan: it has no tasks and no mistakes.

mod edit;
mod line;
mod read;
mod scan;

pub use edit::{EditError, write_back};
pub(super) use read::folded;
pub use read::{Plan, PlanTask, Reading, parse};

use countersign_core::answer::ReviewResult;

pub const FILE: &str = "PLAN.md";
/// Every plan has this word, in any case.
pub const PHASE: &str = "phase";
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;
const MAX_WRITTEN_ISSUES: usize = 20;
const MAX_ISSUE_BYTES: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewBlock {
    /// The number of failed reviews, from 1.
    pub attempt: u32,
    pub last_result: ReviewResult,
    pub issues: Vec<String>,
    /// Its time, in UTC.
    pub reviewed_at: String,
}

/// Whether a text looks like the id of a planned task, as `1.2`.
pub fn is_planned_id(text: &str) -> bool {
    text.split_once('.')
        .is_some_and(|(phase, task)| [phase, task].iter().all(|part| part.parse::<u32>().is_ok()))
}

#[cfg(test)]
mod tests;
