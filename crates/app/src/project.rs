//! The project a command works on: configuration, ledger, panel.

use crate::Failure;
use crate::author;
use countersign_core::redact::Redaction;
use countersign_doors::jobs::library::{self, Library};
use countersign_engine::config::{self, Config, Environment, Flags, Gathered};
use countersign_engine::engine::{Bounds, Engine, Judge, Panel, Panelist, Planner};
use countersign_engine::git;
use countersign_engine::ledger::{LEDGER_FILE, Ledger, LedgerError};
use countersign_engine::process::GuardProgram;
use countersign_engine::programs::Vendor;
use countersign_engine::reviewer::checks;
use countersign_engine::workspace::Root;
use std::path::{Path, PathBuf};

/// Everything known about a project before anything is done.
pub struct Project {
    /// Its configuration.
    pub config: Config,
    /// Its root.
    pub root: Root,
    /// Where the user stands; paths they type are relative to it.
    pub here: PathBuf,
    /// Whose model wrote the work, where that is known.
    pub author: Option<Vendor>,
    /// Whether a reviewer that has no `concurrency` is asked everything at once, as for the steps of jobs.
    pub all_at_once: bool,
}

impl Project {
    /// Finds the project around the current folder.
    pub fn find(config: Option<&Path>, reviewer: Option<String>) -> Result<Self, Failure> {
        Self::find_at(current_folder()?, config, reviewer, &environment())
    }

    /// Finds the project around a folder, under a given environment.
    pub fn find_at(
        here: PathBuf,
        config: Option<&Path>,
        reviewer: Option<String>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let flags = Flags { config: config.map(Path::to_owned), reviewer };
        let gathered = config::gather(&here, &flags, environment)?;
        Self::of(here, &gathered, &flags, environment)
    }

    /// The project whose files these are.
    pub fn of(
        here: PathBuf,
        gathered: &Gathered,
        flags: &Flags,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let config = config::resolve(gathered, flags, environment, &checks::problem)?;
        let root = Root::new(&config.root).map_err(|error| {
            Failure::usage(format!("the project root `{}` cannot be used: {error}", config.root.display()))
        })?;
        Ok(Self { config, root, here, author: author::vendor(), all_at_once: false })
    }

    /// The folder of the ledger: at the main worktree, so that all worktrees share one.
    pub fn ledger_dir(&self) -> PathBuf {
        ledger_dir(self.root.path())
    }

    /// The ledger, where there is one. Reading commands never make one.
    pub async fn existing_ledger(&self) -> Result<Option<Ledger>, Failure> {
        let dir = self.ledger_dir();
        require_untracked(&dir).await?;
        Ok(Ledger::open_existing(&dir).await?)
    }

    /// The ledger, to write to.
    pub async fn ledger(&self) -> Result<Ledger, Failure> {
        let dir = self.ledger_dir();
        require_untracked(&dir).await?;
        Ok(Ledger::open(&dir).await?)
    }

    /// The planner, with the panel this project and this command have.
    pub fn planner(&self, max_inline_files: Option<usize>) -> Result<Planner, Failure> {
        let mut planner = self.planner_for(self.panelists()?)?;
        planner.bounds.max_inline_files = max_inline_files.or(planner.bounds.max_inline_files);
        Ok(planner)
    }

    /// The planner with a panel of the caller's.
    pub fn planner_for(&self, panelists: Vec<Panelist>) -> Result<Planner, Failure> {
        let bounds = self.bounds();
        let panel = self.panel_of(panelists);
        Ok(Planner {
            root: self.root.clone(),
            panel,
            bounds,
            redaction: self.redaction()?,
            day_budget: self.config.day_budget,
        })
    }

    fn panel_of(&self, panelists: Vec<Panelist>) -> Panel {
        let environment: Vec<_> = std::env::vars_os().collect();
        let at_once = self.config.limits.reviewers_at_once;
        Panel::new(panelists, self.root.path(), at_once, &environment)
    }

    /// The jobs of this project, and of the folders the user added.
    pub fn job_library(&self) -> Library {
        Library::new(self.root.path(), more_job_folders(&self.here))
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
        let panel = self.panel_of(panelists);
        Ok(Planner { panel, ..planner })
    }

    /// The engine on this project's ledger.
    pub async fn engine(&self, planner: Planner) -> Result<Engine, Failure> {
        Ok(Engine::new(planner, self.ledger().await?, guard_program()?)?)
    }
}

/// Keeps our own state out of what changed in a project: git ignores it. What git tracks there is work like any other.
pub fn hide_own_state(root: &Path) -> Result<(), Failure> {
    Ok(Ledger::hide(&ledger_dir(root))?)
}

/// Refuses a ledger that came with the repository, as a file, a link or a submodule: then whoever commits brings the
/// verdicts along.
async fn require_untracked(dir: &Path) -> Result<(), Failure> {
    let (Some(root), Some(name)) = (dir.parent(), dir.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    // Without a ledger there is nothing to believe, and without a repository nothing is tracked.
    if !Ledger::is_in(dir) || !git::is_repository(root) {
        return Ok(());
    }
    let tracked = git::Git::at(root).tracked(name).await;
    let tracked = tracked.map_err(|error| Failure::internal(error.to_string()))?;
    let ledger = format!("{name}/{LEDGER_FILE}");
    match tracked.into_iter().find(|path| path == name || path.starts_with(&ledger)) {
        Some(path) => Err(LedgerError::Tracked(path).into()),
        None => Ok(()),
    }
}

/// The folder of the ledger of the project with this root.
pub fn ledger_dir(root: &Path) -> PathBuf {
    git::main_worktree(root).unwrap_or_else(|| root.to_owned()).join(".countersign")
}

/// Where the user stands.
pub fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current folder cannot be used: {error}")))
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

/// The variables that choose a project, its configuration or who judges.
const STEERING: [&str; 3] = ["COUNTERSIGN_ROOT", "COUNTERSIGN_CONFIG", "COUNTERSIGN_REVIEWER"];

/// The environment of a gate, whose variables the judged may have set: none of them chooses what is judged, by what or by
/// whom.
pub fn gate_environment() -> Environment {
    Environment { root: None, config: None, reviewer: None, ..environment() }
}

/// The variables that are set and that a gate ignores.
pub fn ignored_by_gates() -> Vec<&'static str> {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    STEERING.into_iter().filter(set).collect()
}

/// More folders with jobs, as the environment names them.
pub fn more_job_folders(here: &Path) -> Vec<PathBuf> {
    let list = std::env::var_os(library::FOLDERS_VARIABLE).unwrap_or_default();
    library::folders_of(&list).into_iter().map(|folder| here.join(folder)).collect()
}

/// This program, as the guard of others.
pub fn guard_program() -> Result<GuardProgram, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("this program cannot find itself: {error}")))?;
    Ok(GuardProgram(own))
}
