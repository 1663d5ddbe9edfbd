//! The settings of a run: those of existing projects, read as they are, and those under `run:` in `countersign.yml`,
//! which win. Flags win over all and are the caller's.

mod read;
#[cfg(test)]
mod tests;
mod written;

pub use read::{load, parse, parse_section};

use countersign_engine::yaml::Diagnostic;
use serde::Deserialize;
use std::path::PathBuf;

/// The settings, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// How often an agent may try a task.
    pub max_retries: u32,
    /// How long to wait before it tries again.
    pub retry_delay_seconds: u32,
    /// How long an agent may take.
    pub task_timeout_minutes: u32,
    /// How long a review may take.
    pub review_timeout_minutes: u32,
    /// How long tests, and lint, may take.
    pub check_timeout_seconds: u32,
    /// After so many failed tasks in a row a run ends.
    pub max_consecutive_failures: u32,
    /// How many tasks may be under way at once.
    pub max_concurrent: u32,
    /// What a failed task means for the others.
    pub on_task_failure: OnFailure,
    /// Whether a person decides on every task.
    pub hitl_review: bool,
    /// Whether a task may be merged without a pass.
    pub review_policy: ReviewPolicy,
    /// The agent.
    pub claude_command: String,
    /// Its model.
    pub claude_model: Option<String>,
    /// How it is called: `{cmd}`, `{model}`, `{prompt}`, `{prompt_file}`.
    pub command_template: Option<String>,
    /// The reviewer, where it is a program of the user's.
    pub review_command: Option<String>,
    /// Its model.
    pub review_model: Option<String>,
    /// How it is called.
    pub review_command_template: Option<String>,
    /// Whether the agent works without asking for permission.
    pub skip_permissions: bool,
    /// The most one task may cost.
    pub task_budget_usd: Option<f64>,
    /// The most a run may cost.
    pub budget_usd: Option<f64>,
    /// The branch tasks are merged into; none: found out.
    pub main_branch: Option<String>,
    /// Who is told about progress.
    pub callback_url: Option<String>,
    /// What the names of the files begin with, such as `phase5-`.
    pub spec_prefix: String,
    /// The programs around a task.
    pub commands: Commands,
    /// Whether a task gets a branch of its own.
    pub create_git_branch: bool,
    /// Whether tests run when an agent is done.
    pub run_tests: bool,
    /// Whether the linter does.
    pub run_lint: bool,
    /// Whether what it finds stops a task.
    pub lint_blocking: bool,
    /// Whether a task is reviewed.
    pub run_review: bool,
    /// Whether a task is committed.
    pub auto_commit: bool,
}

/// The programs around a task, as a shell reads them. None: nobody named one, and nothing is guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Runs the tests.
    pub test: Option<String>,
    /// Looks for what linters find.
    pub lint: Option<String>,
    /// Mends it.
    pub lint_fix: Option<String>,
}

/// What a failed task means for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// They go on.
    Skip,
    /// The run ends.
    Stop,
    /// A person is asked.
    Ask,
}

/// Whether a task may be merged without a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewPolicy {
    /// It may: the review is advice.
    Advisory,
    /// It may not.
    Required,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            max_retries: 3,
            retry_delay_seconds: 5,
            task_timeout_minutes: 30,
            review_timeout_minutes: 15,
            check_timeout_seconds: 1800,
            max_consecutive_failures: 2,
            max_concurrent: 3,
            on_task_failure: OnFailure::Skip,
            hitl_review: false,
            // The one default that differs from existing tools: there a failed review merges.
            review_policy: ReviewPolicy::Required,
            claude_command: "claude".to_owned(),
            claude_model: None,
            command_template: None,
            review_command: None,
            review_model: None,
            review_command_template: None,
            skip_permissions: true,
            task_budget_usd: None,
            budget_usd: None,
            main_branch: None,
            callback_url: None,
            spec_prefix: String::new(),
            commands: Commands::default(),
            create_git_branch: true,
            run_tests: true,
            run_lint: true,
            lint_blocking: true,
            run_review: true,
            auto_commit: true,
        }
    }
}

/// The settings of a project, where they come from, and what is doubtful about them.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub config: RunConfig,
    /// The file of the project, where it has one.
    pub file: Option<PathBuf>,
    /// Keys nobody knows here, and files that are not looked at.
    pub warnings: Vec<Diagnostic>,
}
