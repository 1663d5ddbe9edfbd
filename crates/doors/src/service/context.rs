//! The context of a task review beside the change: the task, the output of tests and lint, the end of a session log.

use super::task::Task;
use countersign_core::prompt::{Sections, TaskContext};
use countersign_engine::config::{ServiceConfig, TestsIn};
use countersign_engine::git::Git;
use countersign_engine::tested::{IN_WORK, TestCommand, TestRun, TestRunError};
use std::io;
use std::path::Path;
use std::time::Duration;

const TEST_SECONDS: u64 = 120;
const LINT_SECONDS: u64 = 60;
pub const SETUP_SECONDS: u64 = 300;
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub tests: Option<String>,
    pub lint: Option<String>,
    pub session_log: Option<String>,
}

impl Known {
    /// Runs tests and lint on the files of a tree; without one, in the folder of the work.
    pub async fn gather(
        settings: &ServiceConfig,
        session_log: Option<String>,
        around: &TestRun<'_>,
        tree: Option<&str>,
    ) -> io::Result<Self> {
        let mut known = Self::default();
        let context = settings.context;
        if context.tests
            && let Some(line) = test_command(settings.test.as_deref(), around.work, tree).await
        {
            known.tests = Some(run("tests", &line, TEST_SECONDS, around, tree).await?);
        }
        if let Some(line) = settings.lint.as_deref().filter(|_| context.lint) {
            known.lint = Some(run("lint", line, LINT_SECONDS, around, tree).await?);
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

/// Whether tests or lint need the judged files as a tree.
pub fn needs_tree(settings: &ServiceConfig) -> bool {
    let context = settings.context;
    let runs = context.tests || context.lint && settings.lint.is_some();
    runs && settings.commands.tests_in == TestsIn::Checkout
}

/// The test command: the configured one, else by the files that are tested.
async fn test_command(configured: Option<&str>, work: &Path, tree: Option<&str>) -> Option<String> {
    if let Some(line) = configured {
        return Some(line.to_owned());
    }
    let names = TESTED_BY.map(|(file, _)| file);
    let which = match tree {
        None => names.iter().position(|name| work.join(name).is_file())?,
        Some(tree) => Git::at(work).first_file_at(tree, &names).await.ok()??.0,
    };
    Some(TESTED_BY[which].1.to_owned())
}

async fn run(
    what: &str,
    line: &str,
    seconds: u64,
    around: &TestRun<'_>,
    tree: Option<&str>,
) -> io::Result<String> {
    let command = TestCommand { line, timeout: Duration::from_secs(seconds), tap: None };
    let what = format!("{what} (`{line}`)");
    let (result, note) = match tree {
        Some(tree) => (around.on_tree(tree, command).await, String::new()),
        None => (around.on_work(command).await, format!("({IN_WORK})\n")),
    };
    match result {
        Ok(result) => Ok(format!("{note}{}", result.trouble(&what, OUTPUT_BYTES))),
        Err(TestRunError::Refused(words)) => {
            Ok(format!("{what} did not run: {}", countersign_core::text::cut_front(&words, OUTPUT_BYTES)))
        }
        Err(TestRunError::Cancelled) => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
        Err(TestRunError::Io(error)) => Err(error),
        Err(TestRunError::Git(error)) => Err(io::Error::other(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::task::{Basis, Home, TaskStatus};
    use super::*;
    use countersign_engine::config::{CommandsConfig, ContextConfig, Pipeline, Trigger};

    #[tokio::test]
    async fn tests_are_found_by_files_in_their_order() {
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
            let repository = countersign_testkit::Repository::new();
            repository.write("README", "");
            for file in files {
                repository.write(file, "");
            }
            let commit = repository.commit("all");
            for tree in [None, Some(commit.as_str())] {
                let found = test_command(None, repository.root(), tree).await;
                assert_eq!(found.as_deref(), expected, "{files:?}");
                let configured = test_command(Some("./t"), repository.root(), tree).await;
                assert_eq!(configured.as_deref(), Some("./t"));
            }
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
            commands: CommandsConfig::default(),
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
