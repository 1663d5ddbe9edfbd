//! Which files of a project take part in commands: for people, who see them before they trust them and hear which ones were
//! changed. What cannot be told is left out here; a gate refuses to start it.

use super::line::{Lines, Purpose, exact};
use super::{Surroundings, shell_words};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Commands of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Those of reviewers, as words.
    pub reviewers: Vec<Vec<String>>,
    /// Those of checks and tests, as texts for a shell.
    pub checks: Vec<String>,
}

impl Commands {
    /// Whether one of them may name a file below a folder.
    pub fn may_name_a_file(&self, root: &Path) -> bool {
        // `python3 -m judge` names a module.
        self.words().iter().any(|word| word == "-m" || root.join(word).is_file())
    }

    /// Whether one of them names a path, as it is written.
    pub fn names(&self, path: &str) -> bool {
        self.words().iter().any(|word| word.trim_start_matches("./") == path)
    }

    fn words(&self) -> Vec<String> {
        let is_end = |c: char| c.is_whitespace() || "'\"`;&|()<>=,$".contains(c);
        let whole = self.reviewers.iter().flatten();
        let parts = whole.clone().chain(&self.checks).flat_map(|text| text.split(is_end)).map(str::to_owned);
        whole.cloned().chain(parts).filter(|word| !word.is_empty()).collect()
    }
}

impl Surroundings {
    /// The agent program that is started by this name, or why none is.
    pub fn started_program(&self, name: &str) -> Result<PathBuf, String> {
        self.program(name).map(Into::into)
    }

    /// What is started first for the words of a reviewer's command, in `folder`, or why nothing is.
    pub fn started_command(&self, words: &[String], root: &Path, folder: &Path) -> Result<PathBuf, String> {
        let line = self.line(words, root, folder)?;
        line.words.first().map(Into::into).ok_or_else(|| "the command is empty".to_owned())
    }

    /// The files of the project that these commands run, with what those use, by their paths in the worktree.
    pub fn scripts_of(&self, commands: &Commands, root: &Path) -> BTreeSet<PathBuf> {
        let Some(gate) = &self.gate else { return BTreeSet::new() };
        self.named(commands, root).iter().flat_map(|script| gate.with_used(script)).collect()
    }

    /// Those of them that are other ones in the work than in the trusted commit.
    pub fn changed_scripts(&self, commands: &Commands, root: &Path) -> Vec<PathBuf> {
        let Some(gate) = &self.gate else { return vec![] };
        let all = self.scripts_of(commands, root);
        all.into_iter().filter(|script| !gate.is_same(script, 0)).collect()
    }

    fn named(&self, commands: &Commands, root: &Path) -> BTreeSet<PathBuf> {
        let Some(gate) = &self.gate else { return BTreeSet::new() };
        let mut scripts = BTreeSet::new();
        for words in &commands.reviewers {
            let mut lines = Lines::new(self, gate, root, Path::new("/"), Purpose::Reviewer);
            let _ = lines.command(&exact(words), &[], true);
            scripts.extend(lines.scripts);
        }
        for text in &commands.checks {
            let mut lines = Lines::new(self, gate, root, root, Purpose::Check);
            for simple in shell_words::commands(text).unwrap_or_default() {
                // What is wrong with one of them does not hide the next one.
                let _ = lines.command(&simple.words, &simple.inputs, false);
            }
            scripts.extend(lines.scripts);
        }
        scripts
    }
}
