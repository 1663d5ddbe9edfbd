//! The settings of a run: the flags of a request over the configuration.

use super::judges::{ReviewCommand, TrustedJudges};
use super::{List, Request};
use crate::Failure;
use crate::ledger_place;
use countersign_doors::run::settings::{HumanGate, Settings};
use countersign_engine::programs::{PROGRAMS, listed};
use countersign_engine::worker::Worker;
use std::path::PathBuf;
use std::time::Duration;

/// The exact text of document 003.
const HITL_WARNING: &str =
    "--hitl-review is ignored with --parallel or --tui: use --hitl-queue to decide from elsewhere";

const HITL_SETTING_WARNING: &str = "`hitl_review: true` is in the settings, and with --parallel or --tui no person is asked at this terminal: so every task stops after its review and waits for a decision; use --hitl-queue to decide during the run";

const HITL_WITHOUT_REVIEW: &str =
    "`hitl_review: true` is in the settings, and without a review no task waits for a person";

#[derive(Clone, Debug, Default)]
pub struct RunSwitches {
    pub hitl_review: bool,
    /// A person decides elsewhere while the task waits.
    pub hitl_queue: bool,
    pub no_review: bool,
    pub no_tests: bool,
    pub no_commit: bool,
    /// Commit to the branch that is checked out.
    pub no_branch: bool,
    pub max_retries: Option<u32>,
    /// The most all agents together may cost, in dollars.
    pub budget_usd: Option<f64>,
    pub reviewer: Option<String>,
    /// Merge into a branch for a pull request, and never into the main branch.
    pub integration_pr: bool,
}

/// Warnings about flags and settings that are ignored.
pub(super) fn ignored(request: &Request, settings: &Settings) -> impl Iterator<Item = &'static str> {
    let flag = request.how.hitl_review && (request.parallel || request.on_screen);
    let setting = match (settings.human, settings.config.run_review) {
        (HumanGate::Later, true) => Some(HITL_SETTING_WARNING),
        (HumanGate::Later, false) => Some(HITL_WITHOUT_REVIEW),
        _ => None,
    };
    flag.then_some(HITL_WARNING).into_iter().chain(setting)
}

impl List {
    pub(super) fn settings(&self, request: &Request) -> Result<Settings, Failure> {
        let how = &request.how;
        let mut config = self.config.clone();
        config.max_retries = how.max_retries.unwrap_or(config.max_retries).max(1);
        config.max_consecutive_failures = config.max_consecutive_failures.max(1);
        config.commands.test = config.commands.test.filter(|_| config.run_tests && !how.no_tests);
        config.commands.lint = config.commands.lint.filter(|_| config.run_lint);
        config.run_review &= !how.no_review;
        config.auto_commit &= !how.no_commit;
        config.create_git_branch &= !how.no_branch;
        config.integration_pr |= how.integration_pr;
        let at_once = request.max_concurrent.unwrap_or(config.max_concurrent) as usize;
        let settings = Settings {
            human: self.human(request),
            at_once: request.parallel.then_some(at_once),
            budget_microusd: micro(how.budget_usd.or(config.budget_usd))?,
            task_budget_microusd: micro(config.task_budget_usd)?,
            worktrees: self.worktrees(),
            checkout: self.project.checkout(),
            tests_in: self.project.config.service.commands.tests_in,
            config,
        };
        let worker = self.worker()?;
        let reports = matches!(&worker, Worker::Program { program, .. } if program.reports_cost);
        if !reports && settings.budget_microusd.or(settings.task_budget_microusd).is_some() {
            let reporting = PROGRAMS.reviewers().filter(|facts| facts.reports_cost).map(|facts| facts.name);
            let reporting = listed(reporting, "or");
            let words =
                format!("a budget needs an agent that reports its cost, and `{}` does not", worker.name());
            return Err(Failure::usage(words).hint(format!("use {reporting}, or remove the budget")));
        }
        if request.parallel && !settings.uses_branches() {
            return Err(Failure::usage("with --parallel every task needs a branch and a commit").hint(
                "remove --parallel, or --no-branch and --no-commit (`create_git_branch` and `auto_commit` in the \
                 settings)",
            ));
        }
        if settings.config.integration_pr && settings.config.auto_commit && !settings.uses_branches() {
            return Err(Failure::usage("with integration_pr every task needs a branch").hint(
                "remove --no-branch (`create_git_branch: false` in the settings), or set `integration_pr: false`",
            ));
        }
        Ok(settings)
    }

    /// Where a person decides. With several tasks at once or a screen the flag is ignored, as document 003 says; the
    /// setting is not.
    fn human(&self, request: &Request) -> HumanGate {
        let setting = self.config.hitl_review;
        let alone = !(request.parallel || request.on_screen);
        match (request.how.hitl_queue, request.how.hitl_review || setting) {
            (true, _) => HumanGate::Queue,
            (false, true) if alone => HumanGate::Terminal,
            (false, true) if setting => HumanGate::Later,
            (false, _) => HumanGate::Off,
        }
    }

    /// The folder of the worktrees, one per list, because two lists may run at once. Not below `.git`, where agents may not
    /// write.
    fn worktrees(&self) -> PathBuf {
        let list = self.layout.tasks();
        let list = list.file_stem().unwrap_or_default();
        ledger_place::own_folder(self.project.root.path()).join("worktrees").join(list)
    }

    pub(super) fn worker(&self) -> Result<Worker, Failure> {
        let config = &self.config;
        let words = self.words(&config.claude_command, config.command_template.as_deref());
        Worker::from_words(&words, config.claude_model.clone())
            .ok_or_else(|| Failure::usage("`claude_command` is empty: no program can do the tasks"))
    }

    /// The words of a command line, in which files of the project are named from anywhere.
    fn words(&self, command: &str, template: Option<&str>) -> Vec<String> {
        let command: Vec<&str> = command.split_whitespace().collect();
        let words = match template {
            Some(template) => template
                .split_whitespace()
                .flat_map(|word| if word == "{cmd}" { command.clone() } else { vec![word] })
                .collect(),
            None => command,
        };
        let root = self.project.root.path();
        let here = |word: &str| match word.contains('/') && root.join(word).is_file() {
            true => root.join(word).to_string_lossy().into_owned(),
            false => word.to_owned(),
        };
        words.into_iter().map(here).collect()
    }

    pub(super) fn judges(&self) -> TrustedJudges {
        let config = &self.config;
        let command = config.review_command.as_deref().map(|command| ReviewCommand {
            words: self.words(command, config.review_command_template.as_deref()),
            model: config.review_model.clone(),
        });
        let timeout = Duration::from_secs(u64::from(config.review_timeout_minutes) * 60);
        TrustedJudges { project: self.project.clone(), command, timeout }
    }
}

fn micro(usd: Option<f64>) -> Result<Option<u64>, Failure> {
    match usd {
        None => Ok(None),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
        Some(usd) if usd.is_finite() && usd > 0.0 && usd < 1e9 => Ok(Some((usd * 1e6).round() as u64)),
        Some(usd) => Err(Failure::usage(format!("a budget of {usd} dollars is not valid"))),
    }
}
