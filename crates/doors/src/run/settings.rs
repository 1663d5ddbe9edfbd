//! How a run works: every switch of the command line and the configuration, as plain values.

use super::config::{Commands, OnFailure, ReviewPolicy};
use std::path::PathBuf;
use std::time::Duration;

/// Where a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumanGate {
    /// Nowhere.
    Off,
    /// At this terminal; where there is none, later.
    Terminal,
    /// Somewhere else, while the task waits.
    Queue,
    /// Somewhere else, after the run: the task waits, the run does not.
    Later,
}

/// How a run works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many attempts a task has.
    pub max_retries: u32,
    /// How long to wait before the next.
    pub retry_delay: Duration,
    /// How long an agent may take.
    pub task_timeout: Duration,
    /// How long tests, and lint, may take.
    pub check_timeout: Duration,
    /// After so many failed tasks in a row the run stops.
    pub max_consecutive_failures: u32,
    /// What happens when a task fails for good.
    pub on_failure: OnFailure,
    /// The commands that are run.
    pub commands: Commands,
    /// Whether work that lint is not content with goes no further; otherwise the reviewer is told.
    pub lint_blocking: bool,
    /// Whether work is judged at all.
    pub review: bool,
    /// What a verdict is worth.
    pub review_policy: ReviewPolicy,
    /// Where a person decides.
    pub human: HumanGate,
    /// Whether work is committed.
    pub commit: bool,
    /// Whether each task has a branch of its own.
    pub branch: bool,
    /// How many tasks run at once, each in a worktree of its own; none for one after the other, in place.
    pub at_once: Option<usize>,
    /// The most a whole run may cost.
    pub budget_microusd: Option<u64>,
    /// The most one task may cost.
    pub task_budget_microusd: Option<u64>,
    /// Where worktrees are made.
    pub worktrees: PathBuf,
}
