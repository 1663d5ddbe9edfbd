//! The base of a change, and the configuration that judges it.

use crate::Failure;
use crate::authority::{self, FlagsFrom};
use crate::baseline;
use crate::ledger_place;
use crate::project::Project;
use countersign_core::policy::GateFiles;
use countersign_core::prompt::Sections;
use countersign_engine::config::{self, Environment, FILE_NAME, FileBytes, Flags, Gathered};
use countersign_engine::engine::SubmittedChange;
use countersign_engine::git::Git;
use countersign_engine::workspace::{self, Change, ChangeWanted};
use std::path::PathBuf;

pub struct Base {
    /// The project, with the configuration that judges the change.
    pub project: Project,
    /// The base commit; none where there is none yet.
    pub commit: Option<String>,
    /// Warnings about a configuration that is not the one of the files.
    pub warnings: Vec<String>,
}

impl Base {
    /// Whether the caller of a gate chose the configuration or the reviewer.
    pub fn is_chosen(&self) -> bool {
        self.project.authority.as_ref().is_some_and(|authority| authority.is_chosen)
    }
}

/// Finds the base of the change, and the project with the configuration of that commit: a change does not choose its
/// judge. `from_worktree` takes the configuration of the worktree instead.
pub async fn base(
    here: PathBuf,
    flags: &Flags,
    environment: &Environment,
    named: Option<&str>,
    from_worktree: bool,
) -> Result<Base, Failure> {
    let mut gathered = config::gather(&here, flags, environment)?;
    let git = Git::at(&gathered.root);
    let commit = git.base(named, None).await?;
    let own = flags.config.is_none() && environment.config.is_none();
    let edited = match &commit {
        Some(commit) if own && !from_worktree => as_of(&git, commit, &mut gathered).await?,
        _ => None,
    };
    ledger_place::hide_own_folder(&gathered.root)?;
    let mut project = Project::of(here, &gathered, flags, environment)?;
    project.baseline = match &commit {
        Some(commit) if !from_worktree => baseline::of_commit(&git, commit).await?,
        _ => baseline::in_files(project.root.path())?,
    };
    if from_worktree {
        // Only people may ask for this, and they have seen the files.
        project.config.policy.gate_files = GateFiles::Tell;
    }
    Ok(Base { project, commit, warnings: edited.into_iter().collect() })
}

/// The same for a gate: the trusted configuration judges.
pub async fn gate_base(
    here: PathBuf,
    flags: &Flags,
    from: FlagsFrom,
    named: Option<&str>,
) -> Result<Base, Failure> {
    let project = Project::for_gate(here, flags, from).await?;
    let (commit, ignored) = authority::base(&project, from, named).await?;
    ledger_place::hide_own_folder(project.root.path())?;
    let mut warnings = project.notices();
    warnings.extend(ignored);
    Ok(Base { project, commit, warnings })
}

/// Replaces the configuration of the worktree by that of a commit, where the commit has one.
async fn as_of(git: &Git, commit: &str, gathered: &mut Gathered) -> Result<Option<String>, Failure> {
    let bytes = git.file_at(commit, FILE_NAME).await.map_err(|error| Failure::usage(error.to_string()))?;
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(put(bytes, commit, gathered))
}

/// Replaces the configuration of the worktree by these bytes of a commit. Returns a warning where they differ.
fn put(bytes: Vec<u8>, commit: &str, gathered: &mut Gathered) -> Option<String> {
    let there = gathered.project.as_ref().is_some_and(|file| file.bytes == bytes);
    let path = gathered.root.join(FILE_NAME);
    let short = commit.get(..12).unwrap_or(commit);
    let path: PathBuf = if there { path } else { format!("{} (as of {short})", path.display()).into() };
    gathered.project = Some(FileBytes { path, bytes });
    gathered.project_problem = None;
    (!there).then(|| {
        format!("{FILE_NAME} was changed. This review uses the version from commit {short}; check the change to {FILE_NAME} yourself")
    })
}

/// Notes which gate files of a change are those that a person trusts: nobody has to look at them again.
pub async fn note_seen(project: &Project, change: &mut Change) -> Result<(), Failure> {
    let Some(commit) = project.trusted_commit() else { return Ok(()) };
    let root = project.root.path();
    let git = Git::at(root);
    let mut seen = vec![];
    for path in change.gate_files() {
        let trusted = git.file_at(commit, path).await.ok().flatten();
        let file = root.join(path);
        let is_file = file.symlink_metadata().is_ok_and(|found| found.is_file());
        let now = is_file.then(|| std::fs::read(&file).ok()).flatten();
        if now.is_some() && now == trusted {
            seen.push(path.to_owned());
        }
    }
    change.seen = seen;
    Ok(())
}

/// The warning about a change to files by which later work is judged.
pub fn gate_words(change: &Change) -> Option<String> {
    let files = change.gate_files();
    let changed = format!("this changes files that decide how work is judged or run: {}", files.join(", "));
    (!files.is_empty()).then_some(changed)
}

impl Base {
    /// The change of the files in the root of `judged`: those of the project, or a checkout of what is staged.
    pub async fn change(
        &self,
        judged: &Project,
        warnings: &mut Vec<String>,
    ) -> Result<SubmittedChange, Failure> {
        warnings.extend(self.warnings.clone());
        // A checkout has no commits of its own.
        let since = self.commit.clone().filter(|_| judged.root.path() == self.project.root.path());
        let wanted = ChangeWanted { base: self.commit.clone(), since, ..ChangeWanted::default() };
        let mut change = workspace::change(&judged.root, &wanted).await?;
        note_seen(judged, &mut change).await?;
        warnings.extend(gate_words(&change));
        Ok(SubmittedChange::new(change, wanted.left_out, Sections::bare()))
    }
}
