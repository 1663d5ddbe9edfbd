//! The settings of one run: the configuration with the flags applied, and what the flags alone decide.

use super::config::RunConfig;
use countersign_engine::config::TestsIn;
use countersign_engine::tested::CheckoutSettings;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumanGate {
    Off,
    /// At this terminal; where there is none, later.
    Terminal,
    /// Elsewhere, while the task waits.
    Queue,
    /// Elsewhere, after the run.
    Later,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration with the flags applied. A command that is not to run is none.
    pub config: RunConfig,
    pub human: HumanGate,
    /// How many tasks run at once, each in its own worktree; none: one after the other, in the project's worktree.
    pub at_once: Option<usize>,
    pub budget_microusd: Option<u64>,
    pub task_budget_microusd: Option<u64>,
    pub worktrees: PathBuf,
    /// How tests and lint get the judged files.
    pub checkout: CheckoutSettings,
    pub tests_in: TestsIn,
}

impl Settings {
    /// Whether each task has its own branch, which is merged.
    pub fn uses_branches(&self) -> bool {
        self.config.create_git_branch && self.config.auto_commit
    }

    /// Whether tasks are merged into a branch for a pull request.
    pub fn integrates(&self) -> bool {
        self.config.integration_pr && self.uses_branches()
    }

    /// Whether tests or lint run on exactly the judged files.
    pub(super) fn tests_judged_files(&self) -> bool {
        let commands = &self.config.commands;
        self.tests_in == TestsIn::Checkout && (commands.test.is_some() || commands.lint.is_some())
    }
}

pub(super) fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}
