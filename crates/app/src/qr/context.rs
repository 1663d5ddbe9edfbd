//! The project, the state directory and the phase of a `qr` command.

use crate::Failure;
use crate::author;
use crate::authority::FlagsFrom;
use crate::doors::qr::configured;
use crate::project::{Project, current_folder};
use countersign_core::digest::Parts;
use countersign_core::policy::GatePolicy;
use countersign_doors::qr::{Here, Phase, Qr, StateDir};
use countersign_engine::config::Flags;
use countersign_engine::ledger::Ledger;
use std::path::{Path, PathBuf};

/// The default state directory of a loop, beside the ledger.
const OWN_STATE_DIR: &str = "qr/state";

pub struct QrContext {
    pub project: Project,
    pub(super) dir: StateDir,
    typed: String,
    phase: Option<Phase>,
}

impl QrContext {
    /// The place that flags, the environment or the configuration name, for a command that only looks or notes.
    pub fn find(
        config: Option<&Path>,
        state_dir: Option<PathBuf>,
        phase: Option<Phase>,
    ) -> Result<Self, Failure> {
        Self::of(Project::find(config, None)?, state_dir, phase, None)
    }

    /// The same for a command that judges: with the trusted configuration. `own` are the artifacts of a command that has
    /// a default state directory.
    pub async fn find_for_gate(
        config: Option<&Path>,
        state_dir: Option<PathBuf>,
        phase: Option<Phase>,
        reviewer: Option<String>,
        own: Option<&[PathBuf]>,
    ) -> Result<Self, Failure> {
        let flags = Flags { config: config.map(Path::to_owned), reviewer };
        let project = Project::for_gate(current_folder()?, &flags, FlagsFrom::Caller).await?;
        Self::of(project, state_dir, phase, own)
    }

    fn of(
        project: Project,
        state_dir: Option<PathBuf>,
        phase: Option<Phase>,
        own: Option<&[PathBuf]>,
    ) -> Result<Self, Failure> {
        let given = state_dir.filter(|path| !path.as_os_str().is_empty());
        let own = || own.map(|artifacts| own_state_dir(&project, artifacts));
        let (path, typed) = match given.or_else(|| configured(&project.config)).or_else(own) {
            Some(typed) => (project.here.join(&typed), typed.to_string_lossy().into_owned()),
            None => {
                return Err(Failure::usage("no state directory is named").hint(
                    "use --state-dir DIR, the variable STATE_DIR, or `qr: {state_dir: DIR}` in countersign.yml",
                ));
            }
        };
        Ok(Self { project, dir: StateDir::new(path), typed, phase })
    }

    /// Makes the state directory if it is the default one.
    pub(super) fn make_own(&self) -> Result<(), Failure> {
        if self.dir.path().starts_with(self.project.ledger_dir().join(OWN_STATE_DIR)) {
            self.dir.create()?;
        }
        Ok(())
    }

    /// The phase, for commands that are about one.
    pub fn phase(&self) -> Result<Phase, Failure> {
        let known = Phase::ALL.map(Phase::name).join(", ");
        self.phase.ok_or_else(|| {
            Failure::usage("no phase is named").hint(format!("use --phase PHASE, one of {known}"))
        })
    }

    pub(super) fn policy(&self) -> &GatePolicy {
        &self.project.config.qr.gate
    }

    /// The place for commands in answers.
    pub(super) fn here(&self, phase: Phase) -> Here {
        Here { state_dir: self.typed.clone(), phase, for_agent: author::is_agent() }
    }

    /// The door, for commands that write.
    pub(super) async fn door(&self) -> Result<Qr, Failure> {
        self.phase()?;
        if !self.dir.path().is_dir() {
            return Err(countersign_doors::qr::FileError::NoFolder(self.dir.path().to_owned()).into());
        }
        self.door_with(self.project.ledger().await?)
    }

    /// The door if there is a ledger, for commands that read.
    pub(super) async fn existing_door(&self) -> Result<Option<Qr>, Failure> {
        let ledger = self.project.existing_ledger().await?;
        ledger.map(|ledger| self.door_with(ledger)).transpose()
    }

    fn door_with(&self, ledger: Ledger) -> Result<Qr, Failure> {
        let (dir, policy) = (self.dir.clone(), self.policy().clone());
        Ok(Qr { dir, phase: self.phase()?, policy, root: self.project.root.path().to_owned(), ledger })
    }
}

/// A directory for each set of artifacts, because their states are independent.
fn own_state_dir(project: &Project, artifacts: &[PathBuf]) -> PathBuf {
    let absolute = |path: &PathBuf| {
        let path = project.here.join(path);
        path.canonicalize().unwrap_or(path).to_string_lossy().into_owned()
    };
    let mut paths: Vec<String> = artifacts.iter().map(absolute).collect();
    paths.sort();
    let mut parts = Parts::new("qr state/1");
    parts.count(paths.len());
    paths.iter().for_each(|path| {
        parts.text(path);
    });
    project.ledger_dir().join(OWN_STATE_DIR).join(parts.digest().short())
}
