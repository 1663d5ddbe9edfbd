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
        let project = Self::with_pages(files)?;
        let root = project.root.path();
        for (name, text) in [("countersign.yml", CONFIG), ("rulings.jsonl", RULINGS), ("reply.json", REPLY)] {
            fs::write(root.join(name), text)?;
        }
        Ok(project)
    }

    /// A project with this many files and without a configuration.
    pub fn with_pages(files: usize) -> anyhow::Result<Self> {
        let project = Self::empty()?;
        let root = project.root.path();
        for i in 0..files {
            let folder = root.join(format!("docs/{:03}", i / FILES_IN_A_FOLDER));
            fs::create_dir_all(&folder)?;
            let text = format!("# Page {i}\n\n{}", "A line that says something about it.\n".repeat(20));
            fs::write(folder.join(format!("page-{i:05}.md")), text)?;
        }
        Ok(project)
    }

    /// Adds jobs of this size: the first a chain of steps without reviews, and one whose pages are reviewed.
    pub fn add_jobs(&self, jobs: usize, bytes: usize, steps: usize) -> anyhow::Result<()> {
        let add = |name: &str, text: String| -> anyhow::Result<()> {
            let folder = self.root.path().join(".deepwork/jobs").join(name);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("do.md"), "Do it.\n")?;
            Ok(fs::write(folder.join("job.yml"), text)?)
        };
        let output =
            |name: &str, kind: &str| format!("{{{name}: {{type: {kind}, description: d, required: true}}}}");
        let head = |name: &str, info: &str| {
            format!(
                "name: {name}\nversion: \"1.0.0\"\nsummary: s\ncommon_job_info_provided_to_all_steps_at_runtime: {info:?}\nsteps:\n"
            )
        };
        for n in 0..jobs {
            let steps = if n == 0 { steps } else { 5 };
            let step = |i: usize| {
                let output = output("page", "file");
                format!(
                    "  - {{id: s{i}, name: s, description: d, instructions_file: do.md, outputs: {output}, reviews: []}}\n"
                )
            };
            let steps: String = (0..steps).map(step).collect();
            let name = format!("job_{n}");
            let words = (bytes.saturating_sub(steps.len()) / 5).max(1);
            let text = head(&name, &"word ".repeat(words)) + &steps;
            add(&name, text)?;
        }
        let criteria = "{Complete: Is every section written out?, Clear: Would a newcomer understand it?}";
        let output = output("pages", "files");
        let step = format!(
            "  - {{id: s, name: s, description: d, instructions_file: do.md, outputs: {output}, reviews: [{{run_each: pages, \
             additional_review_guidance: g, quality_criteria: {criteria}}}]}}\n"
        );
        add("pages", head("pages", "i") + &step)
    }

    /// Adds a reviewer, as it is written in the configuration.
    pub fn add_reviewer(&self, reviewer: &str) -> anyhow::Result<()> {
        let config = CONFIG.replace("rules:", &format!("  - {reviewer}\nrules:"));
        Ok(fs::write(self.root.path().join("countersign.yml"), config)?)
    }

    /// Writes a file.
    pub fn write(&self, relative: &str, text: &str) -> anyhow::Result<()> {
        let path = self.root.path().join(relative);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(fs::write(path, text)?)
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where its ledger is.
    pub fn ledger(&self) -> PathBuf {
        match self.root.path().join(".git/HEAD").is_file() {
            true => self.root.path().join(".git/countersign"),
            false => self.root.path().join(".countersign"),
        }
    }

    /// The binary in this project, with nothing of the user's environment that could change it.
    pub fn countersign(&self, args: &[&str]) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_countersign")));
        command.args(args).current_dir(self.root.path()).env_clear();
        command.env("HOME", self.home.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}
