//! The context of a task review beside the change: the task, the output of tests and lint, the end of a session log.

use super::task::Task;
use countersign_core::prompt::{Sections, TaskContext};
use countersign_engine::config::ServiceConfig;
use countersign_engine::process::GuardProgram;
use countersign_engine::shell::{self, Command};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const TEST_SECONDS: u64 = 120;
const LINT_SECONDS: u64 = 60;
pub const SESSION_LOG_BYTES: u64 = 30 * 1024;
const OUTPUT_BYTES: usize = 1900;

/// The test command by a file of the project, by precedence.
const TESTED_BY: [(&str, &str); 6] = [
    ("pytest.ini", "pytest"),
    ("pyproject.toml", "pytest"),
    ("package.json", "npm test"),
    ("Makefile", "make test"),
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
];

/// The test command: the configured one, else by the files of the project.
fn test_command(configured: Option<&str>, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let found = || TESTED_BY.iter().find(|(file, _)| is_there(file)).map(|(_, command)| *command);
    configured.or_else(found).map(str::to_owned)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub tests: Option<String>,
    pub lint: Option<String>,
    pub session_log: Option<String>,
}

pub struct CommandEnv<'a> {
    pub guard: &'a GuardProgram,
    pub root: &'a Path,
    pub environment: &'a [(OsString, OsString)],
}

impl Known {
    pub async fn gather(
        settings: &ServiceConfig,
        session_log: Option<String>,
        around: &CommandEnv<'_>,
        cancel: &CancellationToken,
    ) -> std::io::Result<Self> {
        let mut known = Self::default();
        let context = settings.context;
        if context.tests {
            let is_there = |name: &str| around.root.join(name).is_file();
            if let Some(line) = test_command(settings.test.as_deref(), is_there) {
                known.tests = Some(around.run("tests", &line, TEST_SECONDS, cancel).await?);
            }
        }
        if let Some(line) = settings.lint.as_deref().filter(|_| context.lint) {
            known.lint = Some(around.run("lint", line, LINT_SECONDS, cancel).await?);
        }
        known.session_log = session_log.filter(|_| context.session_log);
        Ok(known)
    }

    pub fn sections(&self, task: Option<&Task>, settings: &ServiceConfig) -> Sections {
        let context = settings.context;
        let task = task.filter(|_| context.task_definition);
        let mut sections = Sections::of_task(&TaskContext {
            task: task.map(|task| (task.id.as_str(), task.title.as_str())),
            scope: task.and_then(|task| task.scope.as_deref()),
            acceptance: task.and_then(|task| task.acceptance.as_deref()),
            test_results: self.tests.as_deref(),
            lint_results: self.lint.as_deref(),
            session_log: self.session_log.as_deref(),
        });
        if !context.diff {
            sections.heading.clear();
        }
        sections
    }
}

impl CommandEnv<'_> {
    async fn run(
        &self,
        what: &str,
        line: &str,
        seconds: u64,
        cancel: &CancellationToken,
    ) -> std::io::Result<String> {
        let command = Command {
            line,
            folder: self.root,
            timeout: Duration::from_secs(seconds),
            environment: self.environment,
            tap: None,
        };
        let came = shell::run(self.guard, command, cancel).await?;
        if came.end == shell::End::Cancelled {
            return Err(std::io::Error::new(std::io::ErrorKind::Interrupted, "interrupted"));
        }
        Ok(came.trouble(&format!("{what} (`{line}`)"), OUTPUT_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::super::task::{Basis, Home, TaskStatus};
    use super::*;
    use countersign_engine::config::{ContextConfig, Pipeline, Trigger};

    #[test]
    fn tests_are_found_by_files_in_their_order() {
        let table: [(&[&str], Option<&str>); 7] = [
            (&[], None),
            (&["go.mod"], Some("go test ./...")),
            (&["go.mod", "Cargo.toml"], Some("cargo test")),
            (&["Makefile", "Cargo.toml"], Some("make test")),
            (&["package.json", "Makefile"], Some("npm test")),
            (&["pyproject.toml", "package.json"], Some("pytest")),
            (&["pytest.ini"], Some("pytest")),
        ];
        for (files, expected) in table {
            let found = test_command(None, |name| files.contains(&name));
            assert_eq!(found.as_deref(), expected, "{files:?}");
            let configured = test_command(Some("./t"), |name| files.contains(&name));
            assert_eq!(configured.as_deref(), Some("./t"));
        }
    }

    /// SVC-2, SVC-3.
    #[test]
    fn svc_2_and_3_switches_decide_which_sections_there_are() {
        let task = Task {
            id: "1.2".into(),
            title: "Walls".into(),
            known_as: "Walls".into(),
            scope: Some("four".into()),
            acceptance: Some("stand".into()),
            status: TaskStatus::InProgress,
            in_file: None,
            recorded: None,
            basis: Basis::Own,
            home: Home::Ledger,
        };
        let known = Known { tests: Some("t".into()), lint: None, session_log: Some("s".into()) };
        let settings = |context| ServiceConfig {
            enabled: true,
            command: "/review-task".into(),
            prompt: None,
            model: None,
            parser: None,
            parser_model: None,
            max_revisions: 3,
            trigger: Trigger::ScriptCompletion,
            pipeline: Pipeline::TwoCall,
            context,
            test: None,
            lint: None,
        };
        let headings = |sections: Sections| -> Vec<String> {
            let before = sections.before.into_iter().map(|section| section.heading);
            let after = sections.after.into_iter().map(|section| section.heading);
            before.chain([sections.heading]).chain(after).collect()
        };
        let all = known.sections(Some(&task), &settings(ContextConfig::default()));
        assert_eq!(
            headings(all),
            [
                "# Task 1.2: Walls",
                "## Scope",
                "## Acceptance Criteria",
                "## Git Diff",
                "## Test Results",
                "## Session Log"
            ]
        );
        let none = ContextConfig { task_definition: false, diff: false, ..ContextConfig::default() };
        assert_eq!(headings(Known::default().sections(Some(&task), &settings(none))), [""]);
    }
}
