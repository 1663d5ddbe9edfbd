//! Tests and lint of a task, on exactly the files that are judged and merged.

use super::attempt::{Failure, Halt};
use super::repo::RepoError;
use super::run::RunError;
use super::settings::seconds;
use super::state::ErrorCode;
use super::task::TaskRun;
use countersign_core::progress::{ProgressEvent, Stage};
use countersign_core::prompt::TEST_BYTES_MAX;
use countersign_core::text::cut;
use countersign_engine::config::TestsIn;
use countersign_engine::shell::{CommandResult, End};
use countersign_engine::tested::{IN_WORK, TestCommand, TestRun, TestRunError};

/// The most output of a failed command in the prompt of the next attempt, and of lint in a checkpoint.
pub(super) const ERROR_BYTES: usize = 8 * 1024;
const LINT_BYTES: usize = 16 * 1024;

impl From<TestRunError> for Halt {
    fn from(error: TestRunError) -> Self {
        match error {
            TestRunError::Git(error) => RunError::Repo(RepoError::Git(error)).into(),
            TestRunError::Io(error) => {
                RunError::io("a command of the project could not be run")(error).into()
            }
            TestRunError::Refused(words) => Failure::of_work(ErrorCode::TestFailure, words).into(),
            TestRunError::Cancelled => Self::Stopped,
        }
    }
}

impl TaskRun<'_> {
    /// Tests, then lint; files that `lint_fix` changed are tested again. `merged` names the branch that was merged just before.
    pub(super) async fn checks(&mut self, merged: Option<&str>) -> Result<(), Halt> {
        self.checkpoint.tested = None;
        let mut tree = self.tree().await?;
        self.tests(&tree, merged).await?;
        match self.settings.config.commands.lint.clone() {
            Some(lint) => tree = self.lint(&lint, tree).await?,
            None => self.checkpoint.lint = None,
        }
        self.checkpoint.tested = Some(tree);
        Ok(())
    }

    /// The files of the task as they are, as a tree.
    async fn tree(&self) -> Result<String, Halt> {
        if !self.settings.tests_judged_files() {
            return Ok(String::new());
        }
        match self.change(&self.checkpoint).await? {
            Some(change) => Ok(change.tree.unwrap_or_default()),
            None => Ok(self.repo.tree(&self.checkpoint.base).await.map_err(RunError::from)?),
        }
    }

    /// Returns the tree that passed.
    async fn lint(&mut self, lint: &str, mut tree: String) -> Result<String, Halt> {
        self.stage(Stage::Lint);
        let mut result = self.command("lint", lint, &tree).await?;
        let fix =
            self.settings.config.commands.lint_fix.clone().filter(|_| matches!(result.end, End::Failed(_)));
        if let Some(fix) = &fix {
            self.log.heading(&format!("lint fix: {fix}"));
            // It changes the work.
            self.around().on_work(self.test_command(fix)).await?;
            tree = self.tree().await?;
            result = self.command("lint", lint, &tree).await?;
        }
        match result.end {
            End::Passed if fix.is_some() => {
                self.checkpoint.lint = Some(format!("auto-fixed by `{}`", fix.unwrap_or_default()));
                self.tests(&tree, None).await?;
            }
            End::Passed => self.checkpoint.lint = Some(String::new()),
            End::Cancelled => return Err(Halt::Stopped),
            End::Failed(_) if !self.settings.config.lint_blocking => {
                let lines = format!("`{lint}` reported problems:\n{}", result.output.trim());
                self.checkpoint.lint = Some(cut(&lines, LINT_BYTES).to_owned());
            }
            End::Failed(_) | End::TimedOut => {
                let error = result.trouble(&format!("`{lint}`"), ERROR_BYTES);
                return Err(Failure::of_work(ErrorCode::LintFailure, error).into());
            }
        }
        Ok(tree)
    }

    async fn tests(&mut self, tree: &str, merged: Option<&str>) -> Result<(), Halt> {
        self.check_stop()?;
        let Some(test) = self.settings.config.commands.test.clone() else {
            self.checkpoint.tests = None;
            return Ok(());
        };
        self.stage(Stage::Tests);
        let (heading, what) = match merged {
            None => ("tests", format!("`{test}`")),
            Some(main) => {
                ("tests after the main branch moved", format!("after the merge with `{main}`, `{test}`"))
            }
        };
        let result = self.command(heading, &test, tree).await?;
        let note = match self.settings.tests_in {
            TestsIn::Checkout => String::new(),
            TestsIn::Worktree => {
                self.say(ProgressEvent::Warning(format!("{}: {IN_WORK}", self.task.id)));
                format!("({IN_WORK})\n")
            }
        };
        let shown = result.shown(TEST_BYTES_MAX - note.len());
        self.checkpoint.tests = Some(format!("{note}{shown}"));
        match result.end {
            End::Passed => Ok(()),
            End::Cancelled => Err(Halt::Stopped),
            End::Failed(_) | End::TimedOut => {
                Err(Failure::of_work(ErrorCode::TestFailure, result.trouble(&what, ERROR_BYTES)).into())
            }
        }
    }

    /// Runs a command on the files of a tree, or in the folder of the work where the project wants that.
    async fn command(&self, what: &str, line: &str, tree: &str) -> Result<CommandResult, Halt> {
        self.log.heading(&format!("{what}: {line}"));
        let command = self.test_command(line);
        match self.settings.tests_in {
            TestsIn::Checkout => Ok(self.around().on_tree(tree, command).await?),
            TestsIn::Worktree => Ok(self.around().on_work(command).await?),
        }
    }

    fn test_command<'a>(&self, line: &'a str) -> TestCommand<'a> {
        let timeout = seconds(self.settings.config.check_timeout_seconds);
        TestCommand { line, timeout, tap: Some(self.log.tap()) }
    }

    fn around(&self) -> TestRun<'_> {
        TestRun {
            guard: &self.guard,
            work: self.repo.folder(&self.checkpoint.place),
            settings: &self.settings.checkout,
            environment: &self.environment,
            setup_timeout: seconds(self.settings.config.check_timeout_seconds),
            cancel: &self.never,
        }
    }
}
