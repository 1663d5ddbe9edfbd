//! The place of a gate: the project around a folder, and the repository it is in. Where a project begins is decided by the
//! configuration files that are there and by what a person has trusted, so that a deleted file moves nothing.

use super::record;
use crate::Failure;
use crate::ledger_place;
use countersign_engine::config::{self, Environment, FILE_NAME};
use countersign_engine::git::{Git, is_repository};
use countersign_engine::ledger::{Ledger, LedgerError};
use std::path::{Path, PathBuf};

pub(super) struct Site {
    /// The root of the project.
    pub(super) root: PathBuf,
    /// The root of the worktree it is in; none outside of git.
    pub(super) worktree: Option<PathBuf>,
    /// The path of the project in the worktree, empty for the worktree itself. It is the same in all worktrees.
    pub(super) path: String,
    pub(super) ledger: Option<Ledger>,
    /// The paths of the trusted projects of this repository.
    trusted: Vec<String>,
    /// Why a ledger that was here does not count.
    pub(super) restored: Option<String>,
}

impl Site {
    pub(super) async fn find(start: &Path) -> Result<Self, Failure> {
        match Self::find_for_person(start).await? {
            (site, None) => Ok(site),
            (_, Some(words)) => Err(LedgerError::NotTheLatest(words).into()),
        }
    }

    /// The place also where its ledger does not count, and why it does not.
    pub(super) async fn find_for_person(start: &Path) -> Result<(Self, Option<String>), Failure> {
        let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
        let worktree = start.ancestors().find(|folder| is_repository(folder)).map(Path::to_owned);
        let has_file = |folder: &&Path| folder.join(FILE_NAME).symlink_metadata().is_ok();
        let home = match &worktree {
            Some(top) => top.clone(),
            None => config::find_root(&start, &Environment::default())?,
        };
        let restored = ledger_place::without_restored(&home).await?;
        let (ledger, other_ledger) = ledger_place::look(&home).await?;
        let trusted = match &ledger {
            Some(ledger) => record::paths(ledger).await?,
            None => vec![],
        };
        let of = |folder: &Path| relative(folder, worktree.as_deref());
        let is_root =
            |folder: &&Path| has_file(folder) || of(folder).is_some_and(|path| trusted.contains(&path));
        // A file above the worktree belongs to no project of this repository.
        let inside = |folder: &&Path| worktree.as_deref().is_none_or(|top| folder.starts_with(top));
        let found = start.ancestors().take_while(inside).find(is_root).map(Path::to_owned);
        let root = found.unwrap_or(home);
        let path = of(&root).unwrap_or_default();
        Ok((Self { root, worktree, path, ledger, trusted, restored }, other_ledger))
    }

    /// The path of this project, or of the nearest one around it, that a person has trusted.
    pub(super) fn trusted_path(&self) -> Option<&str> {
        let is_around = |path: &&String| {
            path.is_empty() || **path == self.path || self.path.starts_with(&format!("{path}/"))
        };
        self.trusted.iter().filter(is_around).max_by_key(|path| path.len()).map(String::as_str)
    }

    /// The project at a path of the same worktree.
    pub(super) fn around(self, path: &str) -> Self {
        let root = self.worktree.as_ref().map_or_else(|| self.root.clone(), |top| top.join(path));
        Self { root, path: path.to_owned(), ..self }
    }

    /// Git at the root of the project; none outside of git.
    pub(super) fn git(&self) -> Option<Git> {
        self.worktree.as_ref().map(|_| Git::at(&self.root))
    }
}

/// The path of a folder in the worktree. Outside of git every project stands for itself.
fn relative(folder: &Path, worktree: Option<&Path>) -> Option<String> {
    match worktree {
        None => Some(String::new()),
        Some(top) => Some(folder.strip_prefix(top).ok()?.to_string_lossy().into_owned()),
    }
}
