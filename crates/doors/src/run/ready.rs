//! What must be there before the first agent is paid: the agent itself, a reviewer, and an identity for commits. Looked at
//! once in a run, and no program but git is started.

use super::repo::{Repo, RepoError};
use super::run::{Run, RunError};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_engine::git::GitError;
use countersign_engine::installed;

impl Run {
    pub(super) async fn check_ready(&self) -> Result<(), RunError> {
        self.is_ready.get_or_try_init(async || self.look().await).await.copied()
    }

    async fn look(&self) -> Result<(), RunError> {
        let folder = self.repo.root();
        let program = self.worker.program();
        if installed::find(program, folder, std::env::var_os("PATH").as_deref()).is_none() {
            let words = format!("the agent `{program}` is not installed, or not on the PATH");
            return Err(RunError::NotReady(words, Outcome::NoVerdict(NoVerdict::Unavailable)));
        }
        if self.settings.config.auto_commit {
            self.repo.check_identity().await?;
        }
        if !self.settings.config.run_review {
            return Ok(());
        }
        self.judges.ready(folder).map_err(|missing| {
            let outcome = match missing.is_configured {
                true => Outcome::NoVerdict(NoVerdict::Unavailable),
                false => Outcome::Usage,
            };
            RunError::NotReady(format!("no reviewer can judge the work: {}", missing.words), outcome)
        })
    }
}

impl Repo {
    /// Fails where git does not know in whose name commits are made.
    async fn check_identity(&self) -> Result<(), RepoError> {
        for name in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            match self.git.run(["var", name]).await {
                Err(GitError::Failed { .. }) => return Err(RepoError::NoIdentity),
                looked => drop(looked?),
            }
        }
        Ok(())
    }
}
