//! Moving the main branch to the merge commit of a task, and leaving the branch or worktree of the task.

use super::repo::{Repo, RepoError, WorkLocation};
use countersign_engine::git::GitError;
use std::sync::atomic::Ordering;

pub(super) enum Advanced {
    Yes,
    Moved,
    /// Uncommitted files are in the way, with the message of git: nothing changed.
    Refused(String),
}

impl Repo {
    /// Moves the main branch from `main_was` to a merge commit, and leaves the place. The project's worktree has its files.
    pub(super) async fn advance(
        &self,
        place: &WorkLocation,
        commit: &str,
        main_was: &str,
    ) -> Result<Advanced, RepoError> {
        let main = self.main_ref();
        match place {
            WorkLocation::Branch { branch } => {
                if self.advance_at_once(branch, commit, main_was).await {
                    self.git.run(["reset", "-q"]).await?;
                    return Ok(Advanced::Yes);
                }
                let moved = self.git.run(["update-ref", &main, commit, main_was]).await;
                if moved.is_err() && self.main_tip().await? != commit {
                    return Ok(Advanced::Moved);
                }
                self.return_to_main(place).await?;
            }
            WorkLocation::Worktree { .. } => {
                // Where the main branch is checked out, its files follow; git refuses to overwrite uncommitted ones.
                let here = self.checked_out().await? == self.main;
                let moved = match here {
                    true => self.git.run(["merge", "-q", "--ff-only", commit]).await,
                    false => self.git.run(["update-ref", &main, commit, main_was]).await,
                };
                match moved {
                    Ok(_) => {}
                    Err(error @ GitError::Failed { .. }) if here && self.main_tip().await? == main_was => {
                        return Ok(Advanced::Refused(error.to_string()));
                    }
                    Err(GitError::Failed { .. }) => return Ok(Advanced::Moved),
                    Err(error) => return Err(error.into()),
                }
                self.discard(place).await?;
            }
            WorkLocation::Here => {}
        }
        Ok(Advanced::Yes)
    }

    /// Moves and checks out the main branch and deletes the task's, in one process. False where git (before 2.46) did not.
    async fn advance_at_once(&self, branch: &str, commit: &str, main_was: &str) -> bool {
        if self.lacks_symref_update.load(Ordering::Relaxed) {
            return false;
        }
        let main = self.main_ref();
        let own = format!("refs/heads/{branch}");
        // Two transactions, because one cannot move HEAD off a branch and delete it. A run killed in between has the
        // merge on the main branch, and the next run does the rest.
        let orders = format!(
            "start\nupdate {main} {commit} {main_was}\nsymref-update HEAD {main} ref {own}\ncommit\n\
             start\ndelete {own}\ncommit\n"
        );
        let done = self.git.clone().with_input(orders).run(["update-ref", "--no-deref", "--stdin"]).await;
        if matches!(&done, Err(GitError::Failed { words, .. }) if words.contains("unknown command")) {
            self.lacks_symref_update.store(true, Ordering::Relaxed);
        }
        done.is_ok()
    }

    /// Checks the main branch out, and removes the branch or worktree of the task. Safe to repeat after a crash.
    pub(super) async fn return_to_main(&self, place: &WorkLocation) -> Result<(), RepoError> {
        match place {
            WorkLocation::Branch { branch } => {
                let head = self.checked_out().await?;
                if head == *branch {
                    self.git.run(["symbolic-ref", "HEAD", &self.main_ref()]).await?;
                }
                if head == *branch || head == self.main {
                    self.git.run(["reset", "-q"]).await?;
                    self.delete_branch(branch).await?;
                }
                Ok(())
            }
            WorkLocation::Worktree { .. } => self.discard(place).await,
            WorkLocation::Here => Ok(()),
        }
    }
}
