//! Making the main branch what was judged and joined, and coming home to it.

use super::repo::{Branch, Joined, Place, Repo, RepoError};
use countersign_engine::git::GitError;
use std::sync::atomic::Ordering;

/// Whether the main branch has what was joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It has.
    Yes,
    /// Somebody else moved it.
    Moved,
    /// Somebody's own files are in the way, in git's words: everything is as it was.
    Refused(String),
}

impl Repo {
    /// Makes the main branch what was joined, and leaves the place. In the project's own worktree the files are what was
    /// judged already, so none is touched.
    pub async fn advance(&self, place: &Place, joined: &Joined) -> Result<Advanced, RepoError> {
        let Joined { commit, main_was, .. } = joined;
        let main = self.main_ref();
        match place {
            Place::Branch { branch } => {
                if self.move_home(branch, joined).await {
                    self.git.run(["reset", "-q"]).await?;
                    return Ok(Advanced::Yes);
                }
                let moved = self.git.run(["update-ref", &main, commit, main_was]).await;
                if moved.is_err() && self.main_tip().await? != *commit {
                    return Ok(Advanced::Moved);
                }
                self.come_home(place).await?;
            }
            Place::Worktree { .. } => {
                // Where the main branch is checked out, its files follow; git refuses where somebody's own are in the
                // way.
                let here = self.checked_out().await? == self.main;
                let moved = match here {
                    true => self.git.run(["merge", "-q", "--ff-only", commit]).await,
                    false => self.git.run(["update-ref", &main, commit, main_was]).await,
                };
                match moved {
                    Ok(_) => {}
                    Err(error @ GitError::Failed { .. }) if here && self.main_tip().await? == *main_was => {
                        return Ok(Advanced::Refused(error.to_string()));
                    }
                    Err(GitError::Failed { .. }) => return Ok(Advanced::Moved),
                    Err(error) => return Err(error.into()),
                }
                self.leave(place, Branch::Gone).await?;
            }
            Place::Here => {}
        }
        Ok(Advanced::Yes)
    }

    /// Moves the main branch, has it checked out and takes the branch of the task away, in one process. False where that
    /// is not possible or not done to its end: git before 2.46 does not know how.
    async fn move_home(&self, branch: &str, joined: &Joined) -> bool {
        if self.is_old.load(Ordering::Relaxed) {
            return false;
        }
        let Joined { commit, main_was, .. } = joined;
        let main = self.main_ref();
        let own = format!("refs/heads/{branch}");
        // Two transactions, because one may not move HEAD away from a branch and delete that. Whoever dies between any
        // two of these has the merge on the main branch, and comes home with the next run.
        let orders = format!(
            "start\nupdate {main} {commit} {main_was}\nsymref-update HEAD {main} ref {own}\ncommit\n\
             start\ndelete {own}\ncommit\n"
        );
        let done = self.git.clone().with_input(orders).run(["update-ref", "--no-deref", "--stdin"]).await;
        if matches!(&done, Err(GitError::Failed { words, .. }) if words.contains("unknown command")) {
            self.is_old.store(true, Ordering::Relaxed);
        }
        done.is_ok()
    }

    /// Goes back to the main branch once a task is on it, and takes away what was there of the task. To be done again
    /// where we were killed in the middle of it.
    pub async fn come_home(&self, place: &Place) -> Result<(), RepoError> {
        match place {
            Place::Branch { branch } => {
                let found = self.checked_out().await?;
                if found == *branch {
                    self.git.run(["symbolic-ref", "HEAD", &self.main_ref()]).await?;
                }
                if found == *branch || found == self.main {
                    self.git.run(["reset", "-q"]).await?;
                    self.git.run(["update-ref", "-d", &format!("refs/heads/{branch}")]).await?;
                }
                Ok(())
            }
            Place::Worktree { .. } => self.leave(place, Branch::Gone).await,
            Place::Here => Ok(()),
        }
    }
}
