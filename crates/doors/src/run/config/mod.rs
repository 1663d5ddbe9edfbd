//! The settings of a run: the project's own file, and over it `run:` in `countersign.yml`. The caller applies flags.

mod read;
#[cfg(test)]
mod tests;

pub use read::{load, load_from};

use countersign_engine::yaml::Diagnostic;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    pub max_retries: u32,
    pub retry_delay_seconds: u32,
    pub task_timeout_minutes: u32,
    pub review_timeout_minutes: u32,
    /// The time limit of tests and of lint, each.
    pub check_timeout_seconds: u32,
    pub max_consecutive_failures: u32,
    pub max_concurrent: u32,
    pub on_task_failure: OnFailure,
    pub hitl_review: bool,
    pub review_policy: ReviewPolicy,
    pub claude_command: String,
    pub claude_model: Option<String>,
    /// How it is called: `{cmd}`, `{model}`, `{prompt}`, `{prompt_file}`.
    pub command_template: Option<String>,
    pub review_command: Option<String>,
    pub review_model: Option<String>,
    pub review_command_template: Option<String>,
    pub task_budget_usd: Option<f64>,
    pub budget_usd: Option<f64>,
    /// The branch tasks are merged into; none: the default branch.
    pub main_branch: Option<String>,
    /// Whether tasks are merged into a branch for a pull request, and never into the main branch.
    pub integration_pr: bool,
    /// What the names of the files begin with, such as `phase5-`.
    pub spec_prefix: String,
    pub commands: Commands,
    pub create_git_branch: bool,
    pub run_tests: bool,
    pub run_lint: bool,
    pub lint_blocking: bool,
    pub run_review: bool,
    pub auto_commit: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    pub test: Option<String>,
    pub lint: Option<String>,
    pub lint_fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    Skip,
    Stop,
    Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewPolicy {
    /// It may: the review is advice.
    Advisory,
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
            // Differs from existing tools, where a failed review merges.
            review_policy: ReviewPolicy::Required,
            claude_command: "claude".to_owned(),
            claude_model: None,
            command_template: None,
            review_command: None,
            review_model: None,
            review_command_template: None,
            task_budget_usd: None,
            budget_usd: None,
            main_branch: None,
            integration_pr: false,
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

#[derive(Debug)]
pub struct Loaded {
    pub config: RunConfig,
    pub file: Option<PathBuf>,
    /// Unknown keys, and files that are not read.
    pub warnings: Vec<Diagnostic>,
}
