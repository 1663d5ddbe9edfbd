//! The paths of the files of a run. With a prefix `phase5-`, the list of tasks is `spec/phase5-tasks.md`.

use countersign_core::ids::Subject;
use countersign_engine::workspace::UNFINISHED;
use std::path::{Path, PathBuf};

const MAX_PREFIX_CHARS: usize = 64;

/// The files of settings: with keys at the top, and that of older projects, with keys under `executor:`.
pub const SETTINGS: [&str; 2] = ["spec-runner.config.yaml", "spec/executor.config.yaml"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) root: PathBuf,
    prefix: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a prefix is up to 64 letters, digits, `-`, `_` and `.`, and begins with a letter or digit, such as `phase5-`"
)]
pub struct BadPrefix;

impl Layout {
    pub fn new(root: impl Into<PathBuf>, prefix: &str) -> Result<Self, BadPrefix> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let begins = prefix.chars().next().is_none_or(|c| c.is_ascii_alphanumeric());
        if !begins || !prefix.chars().all(fits) || prefix.len() > MAX_PREFIX_CHARS {
            return Err(BadPrefix);
        }
        Ok(Self { root: root.into(), prefix: prefix.to_owned() })
    }

    pub fn spec(&self) -> PathBuf {
        self.root.join("spec")
    }

    pub(super) fn named(&self, before: &str, after: &str) -> PathBuf {
        self.spec().join(format!("{before}{}{after}", self.prefix))
    }

    pub fn tasks(&self) -> PathBuf {
        self.named("", "tasks.md")
    }

    /// The list of tasks, relative to the root.
    pub fn tasks_name(&self) -> String {
        format!("spec/{}tasks.md", self.prefix)
    }

    /// The branch of `integration_pr`.
    pub fn integration_branch(&self) -> String {
        format!("countersign/{}tasks", self.prefix)
    }

    pub fn subject(&self, task: &str) -> Subject {
        Subject::new(super::DOOR, [self.tasks_name().as_str(), task])
    }

    pub fn state_db(&self) -> PathBuf {
        self.named(".executor-", "state.db")
    }

    pub(super) fn state_json(&self) -> PathBuf {
        self.named(".executor-", "state.json")
    }

    pub fn lock(&self) -> PathBuf {
        self.named(".executor-", "state.lock")
    }

    /// Exists when a run is asked to stop.
    pub fn stop(&self) -> PathBuf {
        self.spec().join(".executor-stop")
    }

    pub fn progress(&self) -> PathBuf {
        self.spec().join(".executor-progress.txt")
    }

    pub fn logs(&self) -> PathBuf {
        self.named(".executor-", "logs")
    }

    pub(super) fn history(&self) -> PathBuf {
        self.named(".", "task-history.log")
    }

    pub(super) fn prompts(&self) -> PathBuf {
        self.named("", "prompts")
    }

    /// Whether a path, relative to the root, is one of our state files, which are part of no change.
    pub fn is_state(path: &Path) -> bool {
        let Ok(inner) = path.strip_prefix("spec") else { return false };
        let first = inner.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        first.is_some_and(|name| {
            name.starts_with(".executor-")
                || name.starts_with(UNFINISHED)
                || (name.starts_with('.') && name.ends_with("task-history.log"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_part_of_every_name() {
        let names = |prefix: &str| {
            let layout = Layout::new("/p", prefix).unwrap();
            [
                layout.tasks(),
                layout.state_db(),
                layout.lock(),
                layout.logs(),
                layout.history(),
                layout.prompts(),
            ]
            .map(|path| path.strip_prefix("/p/spec").unwrap().to_str().unwrap().to_owned())
        };
        let plain = [
            "tasks.md",
            ".executor-state.db",
            ".executor-state.lock",
            ".executor-logs",
            ".task-history.log",
            "prompts",
        ];
        assert_eq!(names(""), plain);
        let prefixed = [
            "phase5-tasks.md",
            ".executor-phase5-state.db",
            ".executor-phase5-state.lock",
            ".executor-phase5-logs",
            ".phase5-task-history.log",
            "phase5-prompts",
        ];
        assert_eq!(names("phase5-"), prefixed);
    }

    #[test]
    fn a_prefix_leads_nowhere_else() {
        for bad in ["../", "a/b", "/", ".", "..", "-x", "a b", "a\n", "é", &"x".repeat(65)] {
            assert_eq!(Layout::new("/p", bad), Err(BadPrefix), "{bad}");
        }
    }

    #[test]
    fn own_files_are_told_from_the_users() {
        for own in ["spec/.executor-state.db-wal", "spec/.executor-logs/a.log", "spec/.x-task-history.log"] {
            assert!(Layout::is_state(Path::new(own)), "{own}");
        }
        for other in ["spec/tasks.md", "src/.executor-x", "spec/.gitignore", "spec", "spec/a/.executor-stop"]
        {
            assert!(!Layout::is_state(Path::new(other)), "{other}");
        }
    }
}
