//! `integration_pr`: the tasks of a list are merged into a branch of their own, from which a person opens a pull request.
//! The main branch is never moved. The branch stays until its commits are on the main branch; then the next run begins it
//! anew.

use super::repo::{Repo, RepoError, is_ancestor};
use super::run::{Run, RunError};
use countersign_core::progress::ProgressEvent;

impl Repo {
    /// The same, merging into this branch instead of the main branch.
    pub fn onto(mut self, branch: String) -> Self {
        self.trunk = Some(std::mem::replace(&mut self.main, branch));
        self
    }

    /// The branch that people merge into: the main branch, also where tasks are merged into another one.
    pub(super) fn trunk(&self) -> &str {
        self.trunk.as_deref().unwrap_or(&self.main)
    }

    pub(super) async fn tip(&self, branch: &str) -> Result<Option<String>, RepoError> {
        Ok(self.git.commit(&format!("refs/heads/{branch}")).await?)
    }
}

impl Run {
    /// Makes the branch at the main branch, unless it has commits that the main branch does not have.
    pub(super) async fn prepare_integration(&self) -> Result<(), RunError> {
        let Some(trunk) = &self.repo.trunk else { return Ok(()) };
        let none = || RepoError::NoCommit(trunk.clone());
        let tip = self.repo.tip(trunk).await?.ok_or_else(none)?;
        let (branch, own) = (self.repo.main_ref(), self.repo.tip(&self.repo.main).await?);
        let moved = match &own {
            // Empty: it must not exist.
            None => self.repo.git.run(["update-ref", &branch, &tip, ""]).await,
            Some(own) if *own == tip || !is_ancestor(&self.repo.git, own, &tip).await => return Ok(()),
            // Its files are there: they go along.
            Some(_) if self.repo.checked_out().await? == self.repo.main => {
                self.repo.git.run(["merge", "-q", "--ff-only", &tip]).await
            }
            Some(own) => self.repo.git.run(["update-ref", &branch, &tip, own]).await,
        };
        moved.map(drop).map_err(|error| RepoError::from(error).into())
    }

    /// Checks the branch out, where the main branch is.
    pub(super) async fn enter_integration(&self) -> Result<(), RunError> {
        match &self.repo.trunk {
            Some(trunk) if self.repo.checked_out().await? == *trunk => {
                let out = self.repo.git.run(["checkout", "-q", &self.repo.main, "--"]).await;
                out.map(drop).map_err(|error| RepoError::from(error).into())
            }
            _ => Ok(()),
        }
    }

    /// Checks the main branch out again. What cannot be left, such as edits of a person, stays where it is.
    pub(super) async fn leave_integration(&self) -> Result<(), RunError> {
        let Some(trunk) = &self.repo.trunk else { return Ok(()) };
        let here = self.repo.checked_out().await? == self.repo.main;
        if here && self.repo.git.run(["checkout", "-q", trunk, "--"]).await.is_err() {
            let words = format!("`{}` is still checked out: changed files are in the way", self.repo.main);
            self.say(ProgressEvent::Warning(words));
        }
        Ok(())
    }
}
