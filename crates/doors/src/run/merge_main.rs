//! Merging the main branch into the branch of a task.

use super::repo::{Repo, RepoError, WorkLocation, is_ancestor};
use countersign_core::text::visible_line;
use countersign_engine::git::{self, GitError};

pub(super) enum Merged {
    Tree(String),
    /// Both sides stand in these files; with the messages of git.
    Conflict {
        files: Vec<String>,
        words: String,
    },
    /// Git refused to begin: nothing changed.
    Refused(String),
}

impl Repo {
    /// Merges with no merge driver, attribute or setting of anybody, and puts the files where the work is.
    pub(super) async fn merge_main(&self, place: &WorkLocation, tip: &str) -> Result<Merged, RepoError> {
        let git = self.at(place);
        let Some(head) = git.head().await? else { return Err(RepoError::NoCommit("HEAD".to_owned())) };
        if is_ancestor(&git, tip, &head).await {
            return Ok(Merged::Tree(self.tree(&head).await?));
        }
        let (tree, conflict) = match git.merge_trees(&head, tip).await? {
            git::Merged::Tree(tree) => (tree, None),
            git::Merged::Conflict { tree, files, words } => (tree, Some((files, words))),
        };
        let message = format!("Merge {} into the task", self.main);
        let commit = git.text(["commit-tree", &tree, "-p", &head, "-p", tip, "-m", &message]).await?;
        // The merge is made: this only moves the files along. Git refuses to overwrite uncommitted ones.
        match git.run(["merge", "-q", "--ff-only", &commit]).await {
            Ok(_) => {}
            Err(error @ GitError::Failed { .. }) => return Ok(Merged::Refused(error.to_string())),
            Err(error) => return Err(error.into()),
        }
        let Some((files, words)) = conflict else { return Ok(Merged::Tree(tree)) };
        // The files keep both sides; the branch of the task does not.
        git.run(["reset", "-q", "--soft", &head]).await?;
        git.run(["reset", "-q"]).await?;
        Ok(Merged::Conflict { files, words })
    }

    /// The commits of the main branch in a range, newest first: the id, and a line about it.
    pub(super) async fn first_parents(
        &self,
        from: &str,
        to: &str,
    ) -> Result<Vec<(String, String)>, RepoError> {
        let range = format!("{from}..{to}");
        let output = self
            .git
            .text(["log", "--first-parent", "--format=%H%x00%h %s", "--end-of-options", &range])
            .await?;
        let commits = output.lines().filter_map(|line| line.split_once('\0'));
        Ok(commits.map(|(id, line)| (id.to_owned(), visible_line(line).into_owned())).collect())
    }
}
