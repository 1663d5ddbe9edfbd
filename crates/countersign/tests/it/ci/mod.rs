//! `ci`: what is judged and by what, for the events of GitHub and GitLab and without any.

mod events;
mod gate_files;
mod real_files;
mod scripts;

use crate::formats::runner::{Command as Shown, commands};
use crate::project;
use countersign_testkit::{Project, Ran, Repository, Running};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const RULES: &str = "version: 1\n\
    rules: [{name: docs, for: ['*.md'], each: file, criteria: [{name: Finished, check: no_placeholders}]}]\n";
const LAX: &str =
    "version: 1\nrules: [{name: docs, for: ['*.md'], criteria: [{name: Any, check: not_empty}]}]\n";

/// A repository that others clone, and a home for the jobs.
pub struct Hosted {
    pub origin: Repository,
    pub home: Project,
}

/// A clone in a job.
pub struct Job<'h> {
    hosted: &'h Hosted,
    pub clone: Repository,
}

/// What a job wrote.
pub struct Done {
    pub ran: Ran,
    pub summary: String,
    pub outputs: String,
}

impl Done {
    pub fn shown(&self) -> Vec<Shown> {
        commands(&format!("{}\n{}", self.ran.stdout, self.ran.stderr))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.ran.code, code, "{:?}", self.ran);
        self
    }

    /// Everything that people see.
    pub fn said(&self) -> String {
        format!("{}\n{}\n{}", self.ran.stdout, self.ran.stderr, self.summary)
    }
}

impl Hosted {
    pub fn new() -> Self {
        Self::on("main")
    }

    pub fn on(branch: &str) -> Self {
        let origin = Repository::on(branch);
        origin.write("countersign.yml", RULES).write("a.md", "fine\n").write("b.txt", "one\n");
        origin.commit("first");
        Self { origin, home: project() }
    }

    /// A branch with these files, and its commit.
    pub fn branch(&self, name: &str, files: &[(&str, &str)]) -> String {
        let back = self.origin.git(["rev-parse", "--abbrev-ref", "HEAD"]);
        self.origin.git(["checkout", "-q", "-b", name]);
        for (path, text) in files {
            self.origin.write(path, text);
        }
        let commit = self.origin.commit(name);
        self.origin.git(["checkout", "-q", &back]);
        commit
    }

    pub fn tip(&self) -> String {
        self.origin.git(["rev-parse", "HEAD"])
    }

    /// A new machine with a clone, and a commit checked out in it.
    pub fn job(&self, commit: &str) -> Job<'_> {
        let clone = self.origin.cloned(&[]);
        clone.git(["checkout", "-q", "--detach", commit]);
        Job { hosted: self, clone }
    }

    /// The same with the merge of a branch, as GitHub makes it.
    pub fn merged(&self, head: &str) -> Job<'_> {
        let job = self.job(&self.tip());
        job.clone.git(["merge", "-q", "--no-ff", "-m", "merge", head]);
        job
    }
}

impl Job<'_> {
    pub fn home(&self) -> PathBuf {
        self.hosted.home.home().to_owned()
    }

    /// The command in the clone.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.hosted.home.command(args);
        command.current_dir(self.clone.root()).env("CI", "true");
        command
    }

    /// Runs it for an event of GitHub.
    pub fn on_github(&self, name: &str, event: &Value) -> Done {
        self.on_github_with(name, event, &["ci"])
    }

    pub fn on_github_with(&self, name: &str, event: &Value, args: &[&str]) -> Done {
        let mut command = self.command(args);
        self.github(&mut command, name, event);
        let ran = Running::start(&mut command).wait();
        let read = |name: &str| fs::read_to_string(self.home().join(name)).unwrap_or_default();
        Done { ran, summary: read("summary.md"), outputs: read("outputs") }
    }

    /// The variables that a runner sets.
    pub fn github(&self, command: &mut Command, name: &str, event: &Value) {
        let at = |name: &str| self.home().join(name);
        fs::write(at("event.json"), event.to_string()).unwrap();
        fs::write(at("summary.md"), "# Other steps\n").unwrap();
        fs::write(at("outputs"), "").unwrap();
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_NAME", name);
        command.env("GITHUB_EVENT_PATH", at("event.json")).env("GITHUB_STEP_SUMMARY", at("summary.md"));
        command.env("GITHUB_OUTPUT", at("outputs")).env("RUNNER_TEMP", at(""));
    }

    pub fn on_gitlab(&self, variables: &[(&str, &str)], args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.env("GITLAB_CI", "true").envs(variables.iter().copied());
        Running::start(&mut command).wait()
    }
}

pub fn pull_request(base: &str, head: &str) -> Value {
    json!({
        "pull_request": { "number": 7, "base": { "sha": base, "ref": "main" }, "head": { "sha": head } },
        "repository": { "default_branch": "main" },
    })
}
