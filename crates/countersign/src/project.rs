//! The project a command works on: configuration, ledger, panel.

use crate::cli::{Failure, Global, installed};
use countersign_core::digest::Digest;
use countersign_core::redact::Redaction;
use countersign_engine::config::{
    self, AgentReviewer, Config, Environment, Flags, ReviewerConfig, ReviewerKind, Sees,
};
use countersign_engine::engine::{Bounds, Engine, Judge, Panel, Panelist, Planner};
use countersign_engine::git;
use countersign_engine::ledger::Ledger;
use countersign_engine::process::GuardProgram;
use countersign_engine::programs;
use countersign_engine::reviewer::{Claude, Command, checks, replay};
use countersign_engine::workspace::Root;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const REPLAY_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// Everything known about a project before anything is done.
pub struct Project {
    pub config: Config,
    pub root: Root,
    /// Where the user stands; paths they type are relative to it.
    pub here: PathBuf,
}

impl Project {
    /// Finds the project around the current folder.
    pub fn find(global: &Global, reviewer: Option<String>) -> Result<Self, Failure> {
        Self::find_at(current_folder()?, global, reviewer, &environment())
    }

    /// Finds the project around a folder, under a given environment.
    pub fn find_at(
        here: PathBuf,
        global: &Global,
        reviewer: Option<String>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let flags = Flags { config: global.config.clone(), reviewer };
        let config = config::load(&here, &flags, environment, &checks::problem)?;
        let root = Root::new(&config.root).map_err(|error| {
            Failure::usage(format!("the project root `{}` cannot be used: {error}", config.root.display()))
        })?;
        Ok(Self { config, root, here })
    }

    /// The folder of the ledger: at the main worktree, so that all worktrees share one.
    pub fn ledger_dir(&self) -> PathBuf {
        git::main_worktree(self.root.path())
            .unwrap_or_else(|| self.root.path().to_owned())
            .join(".countersign")
    }

    /// The ledger, where there is one. Reading commands never make one.
    pub async fn existing_ledger(&self) -> Result<Option<Ledger>, Failure> {
        Ok(Ledger::open_existing(&self.ledger_dir()).await?)
    }

    /// The planner, with the panel this project and this command have.
    pub fn planner(&self, max_inline_files: Option<usize>) -> Result<Planner, Failure> {
        let mut bounds = self.bounds();
        bounds.max_inline_files = max_inline_files.unwrap_or(bounds.max_inline_files);
        let panel = Panel::new(self.panelists()?, self.root.path(), self.config.limits.reviewers_at_once);
        Ok(Planner { root: self.root.clone(), panel, bounds, redaction: self.redaction()? })
    }

    /// The limits of every question.
    pub fn bounds(&self) -> Bounds {
        let limits = &self.config.limits;
        Bounds {
            max_inline_files: limits.max_inline_files,
            prompt_bytes: limits.prompt_bytes as u64,
            reply_bytes: limits.reply_bytes,
        }
    }

    /// What is kept from reviewers, the ledger and reports.
    pub fn redaction(&self) -> Result<Redaction, Failure> {
        match &self.config.redaction {
            config if config.enabled => {
                Redaction::new(&config.patterns).map_err(|problem| Failure::internal(problem.to_string()))
            }
            _ => Ok(Redaction::off()),
        }
    }

    /// The planner of somebody who hands in a self-review: whatever is configured, the author may rule.
    pub fn planner_with_self(&self) -> Result<Planner, Failure> {
        let mut panelists = self.panelists()?;
        if !panelists.iter().any(|panelist| panelist.name == "self") {
            panelists.push(self.panelist("self", Judge::SelfReview));
        }
        let planner = self.planner(None)?;
        let panel = Panel::new(panelists, self.root.path(), self.config.limits.reviewers_at_once);
        Ok(Planner { panel, ..planner })
    }

    /// The engine on this project's ledger.
    pub async fn engine(&self, planner: Planner) -> Result<Engine, Failure> {
        let ledger = Ledger::open(&self.ledger_dir()).await?;
        Ok(Engine::new(planner, ledger, guard_program()?)?)
    }

    fn panelists(&self) -> Result<Vec<Panelist>, Failure> {
        let all = self.each_reviewer().into_iter().map(|(_, panelist)| panelist);
        Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Everybody who is asked, by name: what it takes to ask them, or why they cannot be; nothing for `checks`.
    pub fn each_reviewer(&self) -> Vec<(String, Result<Option<Panelist>, Failure>)> {
        let reviewers = &self.config.reviewers;
        let configured = |reviewer: &ReviewerConfig| (reviewer.name.clone(), self.configured(reviewer));
        match self.config.reviewer.as_deref() {
            // Without any configuration it is the reviewer that is installed, if one is.
            None | Some(config::AUTO) if reviewers.is_empty() && self.config.file.is_none() => {
                let path = std::env::var_os("PATH");
                let found = installed::find("claude", self.root.path(), path.as_deref());
                found.map(|_| ("claude".to_owned(), self.short_form("claude"))).into_iter().collect()
            }
            None | Some(config::AUTO) => reviewers.iter().map(configured).collect(),
            Some(name) => match reviewers.iter().find(|reviewer| reviewer.name == name) {
                Some(reviewer) => vec![configured(reviewer)],
                None => vec![(name.to_owned(), self.short_form(name))],
            },
        }
    }

    /// A reviewer of the configuration; none for `checks`, which is always there.
    fn configured(&self, reviewer: &ReviewerConfig) -> Result<Option<Panelist>, Failure> {
        Ok(match &reviewer.kind {
            ReviewerKind::Command(command) => {
                let model = command.asked.model.clone();
                let judge = Judge::Command(Command { argv: command.argv.clone(), model });
                Some(self.program(&reviewer.name, judge, &command.asked))
            }
            ReviewerKind::Claude(asked) => Some(self.program(&reviewer.name, claude(asked), asked)),
            ReviewerKind::Replay { file } => Some(self.replay(&reviewer.name, file)?),
            ReviewerKind::SelfReview => Some(self.panelist(&reviewer.name, Judge::SelfReview)),
            ReviewerKind::Checks => None,
        })
    }

    /// A reviewer that is named on the command line without being configured.
    fn short_form(&self, name: &str) -> Result<Option<Panelist>, Failure> {
        if let Some(program) = name.strip_prefix("command:").filter(|program| !program.trim().is_empty()) {
            let judge = Judge::Command(Command { argv: self.words(program), model: None });
            return Ok(Some(self.panelist(name, judge)));
        }
        if let Some(file) = name.strip_prefix("replay:").filter(|file| !file.is_empty()) {
            return Ok(Some(self.replay(name, &self.here.join(file))?));
        }
        match name {
            "claude" => {
                let asked = AgentReviewer::default();
                Ok(Some(self.program(name, claude(&asked), &asked)))
            }
            "self" => Ok(Some(self.panelist(name, Judge::SelfReview))),
            "checks" => Ok(None),
            _ => Err(Failure::usage(format!("`{name}` names nobody to ask"))
                .hint("for example claude, or command:./judge.sh")),
        }
    }

    /// A program with arguments; one whose own name has spaces is taken as it is.
    fn words(&self, program: &str) -> Vec<String> {
        let typed = self.here.join(program);
        // However it was typed, it is the same program.
        let absolute = |path: PathBuf| path.canonicalize().unwrap_or(path).to_string_lossy().into_owned();
        if typed.is_file() {
            return vec![absolute(typed)];
        }
        let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        if let Some(first) = words.first_mut().filter(|first| first.contains('/')) {
            *first = absolute(self.here.join(&*first));
        }
        words
    }

    fn program(&self, name: &str, judge: Judge, asked: &AgentReviewer) -> Panelist {
        Panelist {
            sees_project: asked.sees == Sees::Project,
            timeout: asked.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into())),
            concurrency: asked.concurrency as usize,
            ..self.panelist(name, judge)
        }
    }

    fn replay(&self, name: &str, file: &Path) -> Result<Panelist, Failure> {
        let path = self.root.path().join(file);
        let shown = path.display();
        let failure =
            |words: String| Failure::usage(format!("the recorded rulings `{shown}` cannot be used: {words}"));
        let size = std::fs::metadata(&path).map_err(|error| failure(error.to_string()))?.len();
        if size > REPLAY_LIMIT_BYTES {
            return Err(failure(format!("more than {REPLAY_LIMIT_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| failure(error.to_string()))?;
        let rows = replay::parse(&text).map_err(failure)?;
        let judge = Judge::Replay { rows: Arc::new(rows), digest: Digest::of(text.as_bytes()) };
        Ok(self.panelist(name, judge))
    }

    fn panelist(&self, name: &str, judge: Judge) -> Panelist {
        let concurrency = self.config.limits.reviewers_at_once;
        Panelist { name: name.to_owned(), judge, sees_project: false, timeout: None, concurrency }
    }
}

/// Where the user stands.
pub fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current folder cannot be used: {error}")))
}

/// The `claude` program, with the part of our environment that it may have.
fn claude(asked: &AgentReviewer) -> Judge {
    let has = |name: &str| std::env::var_os(name).is_some();
    let kept = |(name, _): &(OsString, OsString)| {
        name.to_str().is_some_and(|name| programs::claude::is_kept(name, has))
    };
    let environment = std::env::vars_os().filter(kept).collect();
    Judge::Claude(Claude { model: asked.model.clone(), environment })
}

/// The environment, read once, here.
pub fn environment() -> Environment {
    let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Environment {
        root: path("COUNTERSIGN_ROOT"),
        config: path("COUNTERSIGN_CONFIG"),
        reviewer: std::env::var("COUNTERSIGN_REVIEWER").ok().filter(|value| !value.is_empty()),
        xdg_config_home: path("XDG_CONFIG_HOME"),
        home: path("HOME"),
    }
}

/// This program, as the guard of others.
pub fn guard_program() -> Result<GuardProgram, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("this program cannot find itself: {error}")))?;
    Ok(GuardProgram(own))
}
