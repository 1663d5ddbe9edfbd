//! Projects to measure in: many small Markdown files, one rule that asks about each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const FILES_IN_A_FOLDER: usize = 100;
const CONFIG: &str = "\
version: 1
reviewers:
  - {name: recorded, use: replay, file: rulings.jsonl}
  - {name: program, use: command, command: [cat, reply.json]}
rules:
  - name: docs
    for: [\"docs/**/*.md\"]
    each: file
    criteria:
      - {name: Complete, ask: Is every section written out?}
      - {name: Clear, ask: Would a newcomer understand it?}
";
const RULINGS: &str = "\
{\"criterion\": \"Complete\", \"passed\": true}
{\"criterion\": \"Clear\", \"passed\": true}
";
const REPLY: &str = r#"{"passed": true, "feedback": "", "criteria_results": [
  {"criterion": "Complete", "passed": true, "feedback": null},
  {"criterion": "Clear", "passed": true, "feedback": null}]}"#;

/// A temporary project.
pub struct Project {
    root: TempDir,
    /// Instead of the user's, whose own configuration would be read.
    home: TempDir,
}

impl Project {
    /// A project without anything.
    pub fn empty() -> anyhow::Result<Self> {
        Ok(Self { root: tempfile::tempdir()?, home: tempfile::tempdir()? })
    }

    /// A project with this many files to judge, and two reviewers who pass everything.
    pub fn with_files(files: usize) -> anyhow::Result<Self> {
        let project = Self::empty()?;
        let root = project.root.path();
        for (name, text) in [("countersign.yml", CONFIG), ("rulings.jsonl", RULINGS), ("reply.json", REPLY)] {
            fs::write(root.join(name), text)?;
        }
        for i in 0..files {
            let folder = root.join(format!("docs/{:03}", i / FILES_IN_A_FOLDER));
            fs::create_dir_all(&folder)?;
            let text = format!("# Page {i}\n\n{}", "A line that says something about it.\n".repeat(20));
            fs::write(folder.join(format!("page-{i:05}.md")), text)?;
        }
        Ok(project)
    }

    /// Adds a reviewer, as it is written in the configuration.
    pub fn add_reviewer(&self, reviewer: &str) -> anyhow::Result<()> {
        let config = CONFIG.replace("rules:", &format!("  - {reviewer}\nrules:"));
        Ok(fs::write(self.root.path().join("countersign.yml"), config)?)
    }

    /// Where its ledger is.
    pub fn ledger(&self) -> PathBuf {
        self.root.path().join(".countersign")
    }

    /// The release binary in this project, with nothing of the user's environment that could change it.
    pub fn countersign(&self, args: &[&str]) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_countersign")));
        command.args(args).current_dir(self.root.path()).env_clear();
        command.env("HOME", self.home.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}
