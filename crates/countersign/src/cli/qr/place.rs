//! Where a `qr` command works: its project, its state directory, its phase.

use super::arguments::QrCommand;
use super::{Failure, Global};
use countersign_app::author;
use countersign_app::doors::qr::configured;
use countersign_app::project::Project;
use countersign_core::digest::Parts;
use countersign_core::policy::GatePolicy;
use countersign_doors::qr::{Here, Phase, Qr, StateDir};
use countersign_engine::ledger::Ledger;
use std::path::PathBuf;

/// Where a loop keeps its state if nobody says where, beside the ledger.
const OWN_STATE_DIR: &str = "qr/state";

/// What the commands share.
pub struct Place {
    /// The project around here.
    pub project: Project,
    /// Where the state files are.
    pub dir: StateDir,
    typed: String,
    phase: Option<Phase>,
}

impl Place {
    /// The place that flags, the environment or the project's file name.
    pub fn find(
        global: &Global,
        given: Option<PathBuf>,
        phase: Option<Phase>,
        command: &QrCommand,
    ) -> Result<Self, Failure> {
        let project = Project::find(global.config.as_deref(), command.reviewer().cloned())?;
        let given = given.filter(|path| !path.as_os_str().is_empty());
        let own = || command.has_own_state_dir().then(|| own_state_dir(&project, command.artifacts()));
        let (path, typed) = match given.or_else(|| configured(&project.config)).or_else(own) {
            Some(typed) => (project.here.join(&typed), typed.to_string_lossy().into_owned()),
            None => {
                return Err(Failure::usage("no state directory is named").hint(
                    "--state-dir DIR, the variable STATE_DIR, or `qr: {state_dir: DIR}` in countersign.yml",
                ));
            }
        };
        Ok(Self { project, dir: StateDir::new(path), typed, phase })
    }

    /// Makes the state directory if it is ours rather than one somebody named.
    pub fn make_own(&self) -> Result<(), Failure> {
        if self.dir.path().starts_with(self.project.ledger_dir().join(OWN_STATE_DIR)) {
            self.dir.create()?;
        }
        Ok(())
    }

    /// The phase, for commands that are about one.
    pub fn phase(&self) -> Result<Phase, Failure> {
        let known = Phase::ALL.map(Phase::name).join(", ");
        self.phase
            .ok_or_else(|| Failure::usage("no phase is named").hint(format!("--phase PHASE, one of {known}")))
    }

    /// What blocks when, and where a loop ends.
    pub fn policy(&self) -> &GatePolicy {
        &self.project.config.qr.gate
    }

    /// The names for commands in answers.
    pub fn here(&self, phase: Phase) -> Here {
        Here { state_dir: self.typed.clone(), phase, for_agent: author::is_agent() }
    }

    /// The door, for commands that change something.
    pub async fn door(&self) -> Result<Qr, Failure> {
        self.phase()?;
        if !self.dir.path().is_dir() {
            return Err(countersign_doors::qr::FileError::NoFolder(self.dir.path().to_owned()).into());
        }
        self.door_with(self.project.ledger().await?)
    }

    /// The door where there is a ledger, for commands that look.
    pub async fn existing_door(&self) -> Result<Option<Qr>, Failure> {
        let ledger = self.project.existing_ledger().await?;
        ledger.map(|ledger| self.door_with(ledger)).transpose()
    }

    fn door_with(&self, ledger: Ledger) -> Result<Qr, Failure> {
        let (dir, policy) = (self.dir.clone(), self.policy().clone());
        Ok(Qr { dir, phase: self.phase()?, policy, root: self.project.root.path().to_owned(), ledger })
    }
}

/// A directory for each set of artifacts: what was found out about one says nothing about another.
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
