//! What git would commit now, to be judged: the files of the index in a checkout of their own.

use crate::project::Project;
use crate::{Code, Failure};
use countersign_core::outcome::NoVerdict;
use countersign_core::text::counted;
use countersign_engine::git::{Git, GitError, JudgedFiles, JudgedFilesError, Keep};
use std::path::PathBuf;

/// The staged files. They are there until this is dropped.
pub struct Staged {
    /// The project with these files.
    pub project: Project,
    git: Git,
    index: Option<PathBuf>,
    tree: String,
    _files: JudgedFiles,
}

impl Staged {
    /// Checks out what is staged. Says what is changed and not staged, and so is not judged.
    pub async fn of(project: &Project, warnings: &mut Vec<String>) -> Result<Self, Failure> {
        let git = Git::at(project.root.path());
        let index = index_of_hook(project);
        let tree = git.staged_tree(index.as_deref()).await.map_err(failed)?;
        let files = git.check_out_judged(&tree, None, Keep::Usual(&[])).await.map_err(not_there)?;
        let others = git.status().await.map_err(failed)?.iter().filter(|entry| entry.is_open).count();
        if others > 0 {
            let files = counted(others, "changed file is", "changed files are");
            warnings.push(format!(
                "{files} not staged as they are in the working tree: this is about what is staged"
            ));
        }
        let gate = project.gate.clone();
        let project = Project { gate, ..project.in_worktree(&files.folder)? };
        Ok(Self { project, git, index, tree, _files: files })
    }

    /// Refuses a verdict where something else is staged by now: a commit would have other bytes than were judged.
    pub async fn require_unchanged(&self) -> Result<(), Failure> {
        if self.git.staged_tree(self.index.as_deref()).await.map_err(failed)? == self.tree {
            return Ok(());
        }
        let words = "other files were staged during the review, so its verdict does not apply to them";
        Err(Failure::new(NoVerdict::Stale.outcome(), Code::NoVerdict, words)
            .hint("run the same command again"))
    }
}

/// The index that a hook of git names: `git commit FILE` has one of its own. An agent does not choose the index of a gate.
fn index_of_hook(project: &Project) -> Option<PathBuf> {
    let named = std::env::var_os("GIT_INDEX_FILE").filter(|name| !name.is_empty())?;
    let is_believed = project.authority.is_none() || !crate::author::is_agent();
    is_believed.then(|| project.here.join(named))
}

fn failed(error: GitError) -> Failure {
    Failure::usage(format!("what is staged cannot be read: {error}"))
}

fn not_there(error: JudgedFilesError) -> Failure {
    Failure::internal(error.to_string())
}
