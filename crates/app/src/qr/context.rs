//! The project, the state directory and the phase of a `qr` command.

use crate::author;
use crate::authority::FlagsFrom;
use crate::doors::qr::configured;
use crate::project::{Project, current_folder};
use crate::{Code, Failure};
use countersign_core::digest::Parts;
use countersign_core::policy::GatePolicy;
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::{Here, Phase, Qr, StateDir, asking, next_line, shell_word};
use countersign_engine::config::Flags;
use countersign_engine::engine::{Judge, Panelist};
use countersign_engine::ledger::Ledger;
use std::path::{Path, PathBuf};

/// The default state directory of a loop, beside the ledger.
const OWN_STATE_DIR: &str = "qr/state";

pub struct QrContext {
    pub project: Project,
    pub(super) dir: StateDir,
    typed: String,
    phase: Option<Phase>,
    /// The flags of this command that the next one needs to ask the same reviewer by the same configuration.
    flags: String,
}

impl QrContext {
    /// The place that flags, the environment or the configuration name, for a command that only looks or notes.
    pub fn find(
        config: Option<&Path>,
        state_dir: Option<PathBuf>,
        phase: Option<Phase>,
    ) -> Result<Self, Failure> {
        let flags = typed_flags(config, None);
        Self::of(Project::find(config, None)?, (state_dir, None), phase, flags)
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
        let typed = typed_flags(config, reviewer.as_deref());
        let flags = Flags { config: config.map(Path::to_owned), reviewer };
        let project = Project::for_gate(current_folder()?, &flags, FlagsFrom::Caller).await?;
        Self::of(project, (state_dir, own), phase, typed)
    }

    fn of(
        project: Project,
        (state_dir, own): (Option<PathBuf>, Option<&[PathBuf]>),
        phase: Option<Phase>,
        flags: String,
    ) -> Result<Self, Failure> {
        let given = state_dir.filter(|path| !path.as_os_str().is_empty());
        let own = || own.map(|artifacts| own_state_dir(&project, artifacts));
        let (path, typed) = match given.or_else(|| configured(&project.config)).or_else(own) {
            Some(typed) => (project.here.join(&typed), typed.to_string_lossy().into_owned()),
            None => {
                let next = next_line("Make a state directory.", "countersign qr init --state-dir plan-state");
                return Err(Failure::usage("no state directory is named").hint(format!(
                    "use --state-dir DIR, the variable STATE_DIR, or `qr: {{state_dir: DIR}}` in countersign.yml\n{next}"
                )));
            }
        };
        Ok(Self { project, dir: StateDir::new(path), typed, phase, flags })
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

    /// What a caller can do here, for the commands in answers.
    pub(super) async fn here(&self, phase: Phase) -> Here {
        let door = self.existing_door().await.ok().flatten();
        let known = match &door {
            Some(door) => asking::remembered(door).await.ok().map(|known| known.paths),
            None => None,
        };
        let known = known.unwrap_or_else(|| asking::plans(self.dir.path()));
        let is_plan = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "md" || kind == "json");
        let typed = |path: &PathBuf| {
            path.strip_prefix(&self.project.here).unwrap_or(path).to_string_lossy().into_owned()
        };
        let is_asked = |panelist: &Panelist| !matches!(panelist.judge, Judge::SelfReview);
        Here {
            state_dir: self.typed.clone(),
            phase,
            for_agent: author::is_agent(),
            has_reviewer: self.project.panelists().is_ok_and(|all| all.iter().any(is_asked)),
            flags: self.flags.clone(),
            has_artifacts: !known.is_empty(),
            plan: known.iter().find(is_plan).map(typed),
        }
    }

    /// A failure with the next command, as every answer has one.
    pub async fn with_next(&self, mut failure: Failure) -> Failure {
        let next = self.next_after(&failure).await;
        let said = match failure.diagnostics.last_mut() {
            Some(problem) => &mut problem.hint,
            None => &mut failure.hint,
        };
        *said = Some(said.take().map_or_else(|| next.clone(), |said| format!("{said}\n{next}")));
        failure
    }

    async fn next_after(&self, failure: &Failure) -> String {
        let here = self.here(self.phase.unwrap_or(Phase::PlanStructure)).await;
        let state = self.dir.read(here.phase);
        if let Some(problem) = failure.diagnostics.last() {
            return match problem.place.file().starts_with(self.dir.path()) {
                true => here.mistakes(),
                false => next_line("Correct the file; this names all mistakes.", "countersign validate"),
            };
        }
        match (failure.code, state) {
            (Code::NoStateDir, _) => here.init(),
            _ if !self.dir.path().is_dir() => here.init(),
            (_, Ok(None)) => here.decompose(),
            (Code::Decomposed | Code::Ceiling | Code::ItemCap, Ok(Some(found))) => {
                let policy = self.policy();
                here.after_gate(&found.state, &gate(&found.state, policy), policy)
            }
            (Code::PeopleOnly, _) if here.for_agent => "NEXT: This phase waits for a person.".to_owned(),
            (_, Ok(Some(_))) => here.status(),
            (_, Err(_)) => here.mistakes(),
        }
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

/// The flags that name a configuration and a reviewer, as they were typed.
fn typed_flags(config: Option<&Path>, reviewer: Option<&str>) -> String {
    let config = config.map(|path| format!(" --config {}", shell_word(&path.to_string_lossy())));
    let reviewer = reviewer.map(|name| format!(" --reviewer {}", shell_word(name)));
    [config, reviewer].into_iter().flatten().collect()
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
