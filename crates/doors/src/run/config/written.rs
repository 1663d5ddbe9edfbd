//! The settings as people write them: in `spec-runner.config.yaml`, under `executor:` in the older file, and under `run:`
//! in `countersign.yml`. Nothing after a colon means the default, as it always has in these files.

use super::{OnFailure, ReviewPolicy};
use countersign_engine::yaml::{At, Count, CountOrNone};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The keys of the settings. Those at the end are for files that have them at the top rather than under `hooks:`.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping of settings")]
pub(super) struct WrittenRun {
    pub max_retries: Option<At<CountOrNone>>,
    pub retry_delay_seconds: Option<At<CountOrNone>>,
    pub task_timeout_minutes: Option<At<Count>>,
    pub review_timeout_minutes: Option<At<Count>>,
    pub check_timeout_seconds: Option<At<Count>>,
    pub max_consecutive_failures: Option<At<Count>>,
    pub max_concurrent: Option<At<Count>>,
    pub on_task_failure: Option<At<OnFailure>>,
    pub hitl_review: Option<At<bool>>,
    pub review_policy: Option<At<ReviewPolicy>>,
    pub claude_command: Option<At<String>>,
    pub claude_model: Option<At<String>>,
    pub command_template: Option<At<String>>,
    pub review_command: Option<At<String>>,
    pub review_model: Option<At<String>>,
    pub review_command_template: Option<At<String>>,
    pub skip_permissions: Option<At<bool>>,
    pub task_budget_usd: Option<At<f64>>,
    pub budget_usd: Option<At<f64>>,
    pub main_branch: Option<At<String>>,
    pub callback_url: Option<At<String>>,
    pub spec_prefix: Option<At<String>>,
    pub commands: Option<At<WrittenCommands>>,
    pub hooks: Option<At<WrittenHooks>>,
    pub create_git_branch: Option<At<bool>>,
    pub run_tests: Option<At<bool>>,
    pub run_lint: Option<At<bool>>,
    pub lint_blocking: Option<At<bool>>,
    pub run_review: Option<At<bool>>,
    pub auto_commit: Option<At<bool>>,
}

/// The same keys by name, to tell a setting in the wrong place from a remark.
pub(super) const KEYS: [&str; 30] = [
    "max_retries",
    "retry_delay_seconds",
    "task_timeout_minutes",
    "review_timeout_minutes",
    "check_timeout_seconds",
    "max_consecutive_failures",
    "max_concurrent",
    "on_task_failure",
    "hitl_review",
    "review_policy",
    "claude_command",
    "claude_model",
    "command_template",
    "review_command",
    "review_model",
    "review_command_template",
    "skip_permissions",
    "task_budget_usd",
    "budget_usd",
    "main_branch",
    "callback_url",
    "spec_prefix",
    "commands",
    "hooks",
    "create_git_branch",
    "run_tests",
    "run_lint",
    "lint_blocking",
    "run_review",
    "auto_commit",
];

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `test`, `lint` and `lint_fix`")]
pub(super) struct WrittenCommands {
    pub test: Option<At<String>>,
    pub lint: Option<At<String>>,
    pub lint_fix: Option<At<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `pre_start` and `post_done`")]
pub(super) struct WrittenHooks {
    pub pre_start: Option<At<WrittenPreStart>>,
    pub post_done: Option<At<WrittenPostDone>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `create_git_branch`")]
pub(super) struct WrittenPreStart {
    pub create_git_branch: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(
    expecting = "a mapping with `run_tests`, `run_lint`, `lint_blocking`, `run_review` and `auto_commit`"
)]
pub(super) struct WrittenPostDone {
    pub run_tests: Option<At<bool>>,
    pub run_lint: Option<At<bool>>,
    pub lint_blocking: Option<At<bool>>,
    pub run_review: Option<At<bool>>,
    pub auto_commit: Option<At<bool>>,
}

/// The older file: everything under one key.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping with `executor`")]
pub(super) struct WrittenOld {
    pub executor: Option<At<WrittenRun>>,
}

/// The part of `countersign.yml` that is ours.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping")]
pub(super) struct WrittenSection {
    pub run: Option<At<WrittenRun>>,
}

/// A file as its keys alone.
pub(super) type Keys = countersign_engine::yaml::InOrder<IgnoredAny>;
