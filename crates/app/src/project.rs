//! The project of a command: its configuration, root, ledger, planner and engine. Its reviewers are in `panel`.

use crate::author;
use crate::authority::Authority;
use crate::baseline;
use crate::ledger_place;
use crate::{Code, Failure};
use countersign_core::accepting::Debt;
use countersign_core::digest::Digest;
use countersign_core::policy::Decisions;
use countersign_core::redact::Redaction;
use countersign_core::review::Actor;
use countersign_doors::jobs::library::{self, Library};
use countersign_engine::config::{self, Config, Environment, FileBytes, Flags, Gathered};
use countersign_engine::engine::{Bounds, Engine, Judge, Panel, Panelist, Planner, Surroundings};
use countersign_engine::ledger::{Ledger, LedgerError};
use countersign_engine::process::GuardProgram;
use countersign_engine::programs::Vendor;
use countersign_engine::reviewer::checks;
use countersign_engine::tested::CheckoutSettings;
use countersign_engine::workspace::Root;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an agent in a sandbox does instead.
const IN_A_SANDBOX: &str = "in the sandbox of an agent, use the MCP tool review_submit: its server runs outside of the sandbox. \
    Otherwise make the folder of the ledger and its files writable";
pub(crate) const UNRECORDED: &str =
    "this review is not recorded, earlier findings are not known to it, and no gate counts it";

#[derive(Clone)]
pub struct Project {
    pub config: Config,
    pub root: Root,
    /// The current folder: typed paths are relative to it.
    pub here: PathBuf,
    /// The vendor of the model that wrote the work, if known.
    pub author: Option<Vendor>,
    /// Whether reviewers without `concurrency` get all questions in parallel, as for the steps of jobs.
    pub all_at_once: bool,
    /// Whether reviewers that are programs may read the whole project, as steps of jobs may say.
    pub shows_project: bool,
    /// The configuration file, as it was read.
    pub file: Option<FileBytes>,
    /// The findings that are accepted as they are: of the files for a question, for a gate of what is trusted.
    pub baseline: Arc<[Debt]>,
    /// By what a gate judges; none for a question.
    pub authority: Option<Arc<Authority>>,
    /// The project as gates see it, where that was looked up for a question; otherwise why no gate would judge here.
    pub gate: Option<Result<Arc<Self>, String>>,
}

impl Project {
    pub fn find(config: Option<&Path>, reviewer: Option<String>) -> Result<Self, Failure> {
        Self::find_at(current_folder()?, config, reviewer, &environment())
    }

    pub fn find_at(
        here: PathBuf,
        config: Option<&Path>,
        reviewer: Option<String>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let flags = Flags { config: config.map(Path::to_owned), reviewer };
        let gathered = config::gather(&here, &flags, environment)?;
        let project = Self::of(here, &gathered, &flags, environment)?;
        // One that cannot be read accepts nothing here, and is an error where work is judged.
        let baseline = baseline::in_files(project.root.path()).unwrap_or_default();
        Ok(Self { baseline, ..project })
    }

    pub fn of(
        here: PathBuf,
        gathered: &Gathered,
        flags: &Flags,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let config = config::resolve(gathered, flags, environment, &checks::problem)?;
        let root = root_at(&config.root)?;
        let (author, file) = (author::vendor(), gathered.project.clone());
        Ok(Self {
            config,
            root,
            here,
            author,
            all_at_once: false,
            shows_project: false,
            baseline: Arc::default(),
            file,
            authority: None,
            gate: None,
        })
    }

    /// The same project with another worktree's files.
    pub fn in_worktree(&self, folder: &Path) -> Result<Self, Failure> {
        let mut config = self.config.clone();
        config.root = folder.to_owned();
        Ok(Self {
            config,
            root: root_at(folder)?,
            here: folder.to_owned(),
            file: self.file.clone(),
            baseline: Arc::clone(&self.baseline),
            authority: self.authority.clone(),
            gate: None,
            ..*self
        })
    }

    pub fn ledger_dir(&self) -> PathBuf {
        ledger_place::ledger_dir(self.root.path())
    }

    /// Refuses a person's word that cannot be signed, where only signed decisions count.
    pub fn accepts_unsigned(&self, by: &Actor) -> Result<(), Failure> {
        match self.config.policy.decisions {
            Decisions::Signed if by.may_decide() => {
                let words = "this project accepts only signed decisions (`policy.decisions: signed`), and this one cannot be signed";
                Err(Failure { code: Code::Refused, ..Failure::usage(words) })
            }
            Decisions::Signed | Decisions::Terminal => Ok(()),
        }
    }

    /// Whether the user lets agents decide: only by the own file as a person trusted it, because agents can write that file
    /// and set `HOME`.
    pub fn agents_may_decide(&self) -> bool {
        let is_trusted = self.authority.as_ref().is_some_and(|authority| authority.trusted.is_some());
        is_trusted && self.config.agents_may_decide
    }

    /// The ledger, if there is one: commands that only read never create it.
    pub async fn existing_ledger(&self) -> Result<Option<Ledger>, Failure> {
        Ok(ledger_place::existing(self.root.path()).await?)
    }

    /// The ledger, to write to.
    pub async fn ledger(&self) -> Result<Ledger, Failure> {
        match ledger_place::open(self.root.path()).await {
            // A question is answered all the same; a gate needs a record.
            Err(error @ LedgerError::ReadOnly(_)) if self.authority.is_some() => {
                Err(Failure::from(error).hint(IN_A_SANDBOX))
            }
            ledger => Ok(ledger?),
        }
    }

    /// The engine of a question. In the sandbox of an agent, where the ledger cannot be written, nothing is recorded; then a
    /// sentence says so.
    pub async fn engine_of_question(&self, planner: Planner) -> Result<(Engine, Option<String>), Failure> {
        let dir = self.ledger_dir();
        Ledger::require_readable(&dir)?;
        if self.authority.is_some() || Ledger::is_writable(&dir) {
            return Ok((self.engine(planner).await?, None));
        }
        let engine = Engine::new(planner, Ledger::in_memory(), guard_program()?)?;
        Ok((engine, Some(format!("the ledger in {} cannot be written: {UNRECORDED}", dir.display()))))
    }

    pub fn planner(&self, max_inline_files: Option<usize>) -> Result<Planner, Failure> {
        let mut planner = self.planner_for(self.panelists()?)?;
        planner.bounds.max_inline_files = max_inline_files.or(planner.bounds.max_inline_files);
        Ok(planner)
    }

    pub fn planner_for(&self, panelists: Vec<Panelist>) -> Result<Planner, Failure> {
        let at_once = self.config.limits.reviewers_at_once;
        let (root, gate) = (self.root.path(), self.gate.as_ref().and_then(|gate| gate.as_ref().ok()));
        let panel = match &self.authority {
            Some(_) => Panel::new(panelists, root, at_once, &self.surroundings()),
            None => {
                let gate = gate.filter(|gate| gate.root.path() == root).map(|gate| gate.surroundings());
                Panel::of_question(panelists, root, at_once, gate.as_ref())
            }
        };
        Ok(Planner {
            root: self.root.clone(),
            panel: match &self.file {
                Some(file) => panel.configured_by(Digest::of(&file.bytes)),
                None => panel,
            },
            bounds: self.bounds(),
            redaction: self.redaction()?,
            day_budget: self.config.day_budget,
            keep_contents_days: self.config.limits.keep_contents_days,
            rules_from: self.authority.as_ref().map(|authority| authority.source.to_string()),
            baseline: Arc::clone(&self.baseline),
        })
    }

    /// What surrounds the programs that judge: for a gate only what is trusted.
    pub fn surroundings(&self) -> Surroundings {
        match &self.authority {
            Some(authority) => authority.surroundings(self.root.path()),
            None => Surroundings::own(),
        }
    }

    /// How tests and lint of this project get the judged files.
    pub fn checkout(&self) -> CheckoutSettings {
        const CACHE: &str = ".cache/countersign/checkouts";
        let commands = &self.config.service.commands;
        let home = self.authority.as_ref().and_then(|authority| authority.home());
        CheckoutSettings {
            setup: commands.setup.clone(),
            keep: commands.keep.clone(),
            cache: home.map(|home| home.join(CACHE)),
        }
    }

    pub fn job_library(&self) -> Library {
        Library::new(self.root.path(), &self.here, more_job_folders(&self.here))
    }

    pub fn bounds(&self) -> Bounds {
        let limits = &self.config.limits;
        Bounds {
            max_inline_files: limits.max_inline_files,
            prompt_bytes: limits.prompt_bytes as u64,
            reply_bytes: limits.reply_bytes,
        }
    }

    /// What is hidden from reviewers, the ledger and reports.
    pub fn redaction(&self) -> Result<Redaction, Failure> {
        match &self.config.redaction {
            config if config.enabled => {
                Redaction::new(&config.patterns).map_err(|problem| Failure::internal(problem.to_string()))
            }
            _ => Ok(Redaction::off()),
        }
    }

    /// The planner for the results of a self-review: the author may always rule.
    pub fn planner_with_self(&self) -> Result<Planner, Failure> {
        let mut panelists = self.panelists()?;
        if !panelists.iter().any(|panelist| panelist.name == "self") {
            panelists.push(self.panelist("self", Judge::SelfReview));
        }
        self.planner_for(panelists)
    }

    pub async fn engine(&self, planner: Planner) -> Result<Engine, Failure> {
        Ok(Engine::new(planner, self.ledger().await?, guard_program()?)?)
    }
}

pub(crate) fn root_at(path: &Path) -> Result<Root, Failure> {
    Root::new(path).map_err(|error| {
        Failure::usage(format!("the project root `{}` cannot be used: {error}", path.display()))
    })
}

pub fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current folder cannot be used: {error}")))
}

/// The variables that choose project, configuration and reviewer.
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

/// The environment of a gate. An agent may have set these variables, so they must not choose the work or its reviewers.
pub fn gate_environment() -> Environment {
    Environment { root: None, config: None, reviewer: None, ..environment() }
}

pub fn more_job_folders(here: &Path) -> Vec<PathBuf> {
    let list = std::env::var_os(library::FOLDERS_VARIABLE).unwrap_or_default();
    library::folders_of(&list).into_iter().map(|folder| here.join(folder)).collect()
}

pub fn guard_program() -> Result<GuardProgram, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("the path of this program is not known: {error}")))?;
    Ok(GuardProgram(own))
}
