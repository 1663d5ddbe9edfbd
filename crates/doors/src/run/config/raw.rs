//! The YAML shape of the settings: `spec-runner.config.yaml`, `executor:` of the older file, and `run:` of
//! `countersign.yml`. An empty value means the default, as it always has in these files.

use super::{OnFailure, ReviewPolicy};
use countersign_engine::yaml::{At, Count, CountOrNone};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The keys of the settings. Those after `hooks` may stand under it too.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping of settings")]
pub(super) struct RawRun {
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
    pub commands: Option<At<RawCommands>>,
    pub hooks: Option<At<RawHooks>>,
    pub create_git_branch: Option<At<bool>>,
    pub run_tests: Option<At<bool>>,
    pub run_lint: Option<At<bool>>,
    pub lint_blocking: Option<At<bool>>,
    pub run_review: Option<At<bool>>,
    pub auto_commit: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `test`, `lint` and `lint_fix`")]
pub(super) struct RawCommands {
    pub test: Option<At<String>>,
    pub lint: Option<At<String>>,
    pub lint_fix: Option<At<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `pre_start` and `post_done`")]
pub(super) struct RawHooks {
    pub pre_start: Option<At<RawPreStart>>,
    pub post_done: Option<At<RawPostDone>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a mapping with `create_git_branch`")]
pub(super) struct RawPreStart {
    pub create_git_branch: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(
    expecting = "a mapping with `run_tests`, `run_lint`, `lint_blocking`, `run_review` and `auto_commit`"
)]
pub(super) struct RawPostDone {
    pub run_tests: Option<At<bool>>,
    pub run_lint: Option<At<bool>>,
    pub lint_blocking: Option<At<bool>>,
    pub run_review: Option<At<bool>>,
    pub auto_commit: Option<At<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping with `executor`")]
pub(super) struct RawExecutor {
    pub executor: Option<At<RawRun>>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping")]
pub(super) struct RawSection {
    pub run: Option<At<RawRun>>,
}

pub(super) type Keys = countersign_engine::yaml::OrderedMap<IgnoredAny>;
