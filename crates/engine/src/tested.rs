//! Runs the commands of a project, its tests and lint, on exactly the files that are judged: in a kept checkout, which the
//! project's own command has set up.

use crate::git::{FOREIGN, Git, GitError, JudgedFiles, JudgedFilesError, Keep};
use crate::process::{GuardProgram, Tap};
use crate::shell::{self, Command, CommandResult, End};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What survives in a checkout where nobody names it: what common tools build and install.
pub const USUAL_KEEP: [&str; 3] = ["node_modules", "target", ".venv"];
/// What people install in the folder they work in, and git ignores.
const INSTALLED: [&str; 2] = ["node_modules", ".venv"];
/// What is said wherever results are shown that are not about the judged files.
pub const IN_WORK: &str = "tests and lint ran in the working folder, not on the judged files";

/// How the checkout of a project is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutSettings {
    /// Fills what git ignores, in a shell.
    pub setup: Option<String>,
    /// What survives in it; the usual folders where nobody names any.
    pub keep: Option<Vec<String>>,
    /// The folder for checkouts; one that is gone afterwards where there is none.
    pub cache: Option<PathBuf>,
}

impl CheckoutSettings {
    fn keep(&self) -> Keep<'_> {
        match &self.keep {
            Some(named) => Keep::Named(named),
            None => Keep::Usual(&USUAL_KEEP),
        }
    }
}

/// What surrounds the commands.
#[derive(Clone, Copy)]
pub struct TestRun<'a> {
    pub guard: &'a GuardProgram,
    /// Where the work is.
    pub work: &'a Path,
    pub settings: &'a CheckoutSettings,
    pub environment: &'a [(OsString, OsString)],
    pub setup_timeout: Duration,
    pub cancel: &'a CancellationToken,
}

/// One command.
#[derive(Clone)]
pub struct TestCommand<'a> {
    pub line: &'a str,
    pub timeout: Duration,
    pub tap: Option<Tap>,
}

#[derive(Debug, thiserror::Error)]
pub enum TestRunError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("a command of the project could not be run: {0}")]
    Io(#[from] io::Error),
    /// The files cannot be tested like that.
    #[error("{0}")]
    Refused(String),
    #[error("interrupted")]
    Cancelled,
}

impl From<JudgedFilesError> for TestRunError {
    fn from(error: JudgedFilesError) -> Self {
        match error {
            JudgedFilesError::Git(error) => Self::Git(error),
            JudgedFilesError::Io(error) => Self::Io(error),
            refused @ JudgedFilesError::Kept { .. } => Self::Refused(refused.to_string()),
        }
    }
}

impl TestRun<'_> {
    /// The files of a tree, set up. The checkout is of no use to anybody else until this is dropped.
    pub async fn files(&self, tree: &str, tap: Option<Tap>) -> Result<JudgedFiles, TestRunError> {
        let git = Git::at(self.work);
        let (cache, keep) = (self.settings.cache.as_deref(), self.settings.keep());
        let mut files = tokio::select! {
            files = git.check_out_judged(tree, cache, keep) => files?,
            () = self.cancel.cancelled() => return Err(TestRunError::Cancelled),
        };
        let Some(setup) = self.settings.setup.as_deref().filter(|setup| !files.is_set_up(setup)) else {
            return Ok(files);
        };
        let timeout = self.setup_timeout;
        let result = self.run(&files.folder, TestCommand { line: setup, timeout, tap }).await?;
        if !result.passed() {
            let words = result.trouble(&format!("`{setup}` (`commands.setup`)"), OUTPUT_BYTES);
            return Err(TestRunError::Refused(words));
        }
        files.note_set_up(setup)?;
        // The command may have changed the files.
        files.put_right(&git, keep).await?;
        Ok(files)
    }

    /// Runs a command on the files of a tree.
    pub async fn on_tree(&self, tree: &str, command: TestCommand<'_>) -> Result<CommandResult, TestRunError> {
        let files = self.files(tree, command.tap.clone()).await?;
        let mut result = self.run(&files.folder, command).await?;
        if !result.passed()
            && let Some(hint) = self.hint(&files.folder)
        {
            result.output.push_str(&format!("\n{hint}\n"));
        }
        Ok(result)
    }

    /// Runs a command in the folder of the work.
    pub async fn on_work(&self, command: TestCommand<'_>) -> Result<CommandResult, TestRunError> {
        self.run(self.work, command).await
    }

    async fn run(&self, folder: &Path, command: TestCommand<'_>) -> Result<CommandResult, TestRunError> {
        // They would lead git to the repository of the work.
        let is_foreign = |name: &OsString| {
            name.to_str().is_some_and(|name| FOREIGN.split_whitespace().any(|foreign| foreign == name))
        };
        let environment: Vec<_> =
            self.environment.iter().filter(|(name, _)| !is_foreign(name)).cloned().collect();
        let TestCommand { line, timeout, tap } = command;
        let command = Command { line, folder, timeout, environment: &environment, tap };
        let result = shell::run(self.guard, command, self.cancel).await?;
        match result.end {
            End::Cancelled => Err(TestRunError::Cancelled),
            _ => Ok(result),
        }
    }

    /// What a person may have forgotten: the folder of the work has what the checkout has not.
    fn hint(&self, files: &Path) -> Option<String> {
        let is_missing = |name: &&&str| self.work.join(name).is_dir() && !files.join(name).exists();
        let name = INSTALLED.iter().find(is_missing).filter(|_| self.settings.setup.is_none())?;
        Some(format!(
            "(Countersign ran this in a checkout of the judged files, which has no `{name}`: `commands.setup` in \
             countersign.yml can install it)"
        ))
    }
}

/// The most output of a command that failed.
const OUTPUT_BYTES: usize = 8 * 1024;
