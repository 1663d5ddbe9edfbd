//! A project, a service, and a real program between them.

use countersign_testkit::{Messages, Project, Ran, Running, eventually};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something of the user's that no reviewer needs.
pub const OTHER_KEY: &str = "GITHUB_TOKEN";

/// What a test works on.
pub struct Bench {
    pub project: Project,
    pub service: Messages,
    /// Where programs are looked for.
    pub path: String,
    /// How it signs in; without it, by what is in the home.
    pub key: Option<&'static str>,
}

impl Bench {
    /// A project with one file, and a service.
    pub fn new(service: Messages) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
        project.write("a.md", "A short text.\n");
        std::fs::create_dir(project.path(".tmp")).unwrap();
        let path = format!("{}:/usr/bin:/bin", agents().join("bin").display());
        Self { project, service, path, key: Some("sk-test") }
    }

    /// A question about the file, under a subject, with the answer as JSON.
    pub fn review(&self, more: &[&str]) -> Ran {
        self.start(more).wait()
    }

    /// The same, not waited for.
    pub fn start(&self, more: &[&str]) -> Running {
        let args = ["review", "a.md", "--criterion", "Complete=Is it complete?", "--reviewer", "claude"];
        let args = [&args[..], &["--subject", "x", "--json"], more].concat();
        Running::start(&mut self.command(&args))
    }

    /// A command in an environment of its own: nothing of the machine's is to reach the program.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.env_clear();
        command.env("PATH", &self.path).env("HOME", self.project.home());
        command.env("TMPDIR", self.project.path(".tmp"));
        command.env("ANTHROPIC_BASE_URL", self.service.url()).env(OTHER_KEY, "ghp-not-for-you");
        if let Some(key) = self.key {
            command.env("ANTHROPIC_API_KEY", key);
        }
        command
    }

    /// Configures the reviewer, for a rule about all Markdown files.
    pub fn configure(&self, reviewer: &str, limits: &str) -> &Self {
        let config = format!(
            "version: 1\nreviewers: [{{name: main, use: claude{reviewer}}}]\nlimits: {{{limits}}}\nrules: [{{name: r, \
             for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it complete?'}}]}}]\n"
        );
        self.project.write("countersign.yml", config);
        self
    }

    /// Reviews by configuration.
    pub fn run_configured(&self, more: &[&str]) -> Ran {
        let args = [&["review", "--subject", "x", "--json"], more].concat();
        Running::start(&mut self.command(&args)).wait()
    }

    /// Everything that runs because of this test: it has the address of the service in its environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let url = self.service.url();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let of_ours = |entry: std::fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environ = std::fs::read(entry.path().join("environ")).ok()?;
            let environ = String::from_utf8_lossy(&environ).into_owned();
            let own = environ.split('\0').any(|pair| pair == format!("ANTHROPIC_BASE_URL={url}"));
            own.then_some((pid, environ))
        };
        entries.filter_map(of_ours).collect()
    }

    /// The agent program itself, once the service has heard of it: its id and environment.
    pub fn agent(&self, questions: usize) -> (i32, String) {
        eventually("the program asks", || self.service.asked().len() >= questions);
        let is_agent = |(pid, _): &(i32, String)| {
            let name = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            name.file_name().is_some_and(|name| name == "claude")
        };
        self.processes().into_iter().find(is_agent).expect("the agent program runs")
    }

    /// Nothing runs any more, and nothing of the work is left in temporary folders.
    pub fn assert_clean(&self) {
        eventually("no process is left", || self.processes().is_empty());
        eventually("no copy is left", || is_empty(&self.project.path(".tmp")));
    }

    /// Everything that was sent to the service, as it came.
    pub fn sent(&self) -> String {
        self.service.asked().iter().map(|asked| asked.headers.clone() + &asked.text).collect()
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// The detail of the first assignment.
pub fn detail(json: &Value) -> &str {
    json["assignments"][0]["detail"].as_str().unwrap_or_default()
}

/// The folder that `cargo xtask test` made.
fn agents() -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_AGENTS").map(PathBuf::from);
    folder.expect("these tests need the real agent programs: run cargo xtask test")
}
