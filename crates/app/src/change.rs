//! The base of a change, and the configuration that judges it.

use crate::Failure;
use crate::project::{self, Project};
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
    /// A warning where the change edits the configuration.
    pub edited: Option<String>,
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
    let gathered = config::gather(&here, flags, environment)?;
    let commit = Git::at(&gathered.root).base(named, None).await?;
    let judged_by = commit.clone().filter(|_| !from_worktree);
    let mut base = since(here, gathered, flags, environment, (commit, judged_by.as_deref())).await?;
    if from_worktree {
        // Only people may ask for this, and they have seen the files.
        base.project.config.policy.gate_files = GateFiles::Tell;
    }
    Ok(base)
}

/// The same where both are known: the base, and the commit whose configuration judges.
pub async fn since(
    here: PathBuf,
    mut gathered: Gathered,
    flags: &Flags,
    environment: &Environment,
    (commit, judged_by): (Option<String>, Option<&str>),
) -> Result<Base, Failure> {
    let own = flags.config.is_none() && environment.config.is_none();
    let edited = match judged_by {
        Some(judged_by) if own => as_of(&Git::at(&gathered.root), judged_by, &mut gathered).await?,
        _ => None,
    };
    project::hide_own_state(&gathered.root)?;
    Ok(Base { project: Project::of(here, &gathered, flags, environment)?, commit, edited })
}

/// Replaces the configuration of the worktree by that of a commit, where the commit has one.
async fn as_of(git: &Git, commit: &str, gathered: &mut Gathered) -> Result<Option<String>, Failure> {
    let bytes = git.file_at(commit, FILE_NAME).await.map_err(|error| Failure::usage(error.to_string()))?;
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(put(bytes, commit, gathered))
}

/// Replaces the configuration of the worktree by these bytes of a commit. Returns a warning where they differ.
pub fn put(bytes: Vec<u8>, commit: &str, gathered: &mut Gathered) -> Option<String> {
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

/// The warning about a change to files by which later work is judged.
pub fn gate_words(change: &Change) -> Option<String> {
    let files = change.gate_files();
    let changed = format!("this changes files that decide how work is judged or run: {}", files.join(", "));
    (!files.is_empty()).then_some(changed)
}

impl Base {
    pub async fn change(&self, warnings: &mut Vec<String>) -> Result<SubmittedChange, Failure> {
        warnings.extend(self.edited.clone());
        let wanted = ChangeWanted { base: self.commit.clone(), ..ChangeWanted::default() };
        let change = workspace::change(&self.project.root, &wanted).await?;
        warnings.extend(gate_words(&change));
        Ok(SubmittedChange::new(change, wanted.left_out, Sections::bare()))
    }
}
