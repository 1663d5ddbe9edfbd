//! A project, a service, and a real program between them.

use countersign_testkit::{
    Dialect, Loopback, Messages, MessagesApi, Project, Ran, Running, Terminal, eventually,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something of the user's that no reviewer needs.
pub const OTHER_KEY: &str = "GITHUB_TOKEN";

/// How a program is led to a service on loopback.
#[derive(Clone, Copy)]
pub struct Driven {
    /// Its name, in `use:` too.
    pub name: &'static str,
    /// What its file is called when it runs.
    pub executable: &'static str,
    /// Keys of its reviewer for the service at this address, each with a comma before it.
    pub keys: fn(&str) -> String,
    /// Variables that lead it to the service at this address.
    pub variables: fn(&str) -> Vec<(&'static str, String)>,
    /// The variable that signs it in.
    pub key_variable: &'static str,
}

/// Claude Code.
pub const CLAUDE: Driven = Driven {
    name: "claude",
    executable: "claude",
    keys: |_| String::new(),
    variables: |url| vec![("ANTHROPIC_BASE_URL", url.to_owned())],
    key_variable: "ANTHROPIC_API_KEY",
};

/// What a test works on.
pub struct Bench<D = MessagesApi> {
    pub project: Project,
    pub service: Loopback<D>,
    pub driven: Driven,
    /// Where programs are looked for.
    pub path: String,
    /// How it signs in; without it, by what is in the home.
    pub key: Option<&'static str>,
}

impl Bench {
    /// A project with one file, and a service for Claude.
    pub fn new(service: Messages) -> Self {
        Self::of(CLAUDE, service)
    }
}

impl<D: Dialect> Bench<D> {
    /// A project with one file, a program, and a service for it.
    pub fn of(driven: Driven, service: Loopback<D>) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
        project.write("a.md", "A short text.\n");
        std::fs::create_dir(project.path(".tmp")).unwrap();
        let path = format!("{}:/usr/bin:/bin", agents().join("bin").display());
        Self { project, service, driven, path, key: Some("sk-test") }
    }

    /// A question about the file, under a subject, with the answer as JSON.
    pub fn review(&self, more: &[&str]) -> Ran {
        self.start(more).wait()
    }

    /// The same, not waited for.
    pub fn start(&self, more: &[&str]) -> Running {
        let args = ["review", "a.md", "--criterion", "Complete=Is it complete?"];
        let args = [&args[..], &["--reviewer", self.driven.name]].concat();
        let args = [&args[..], &["--subject", "x", "--json"], more].concat();
        Running::start(&mut self.command(&args))
    }

    /// A command in an environment of its own: nothing of the machine's is to reach the program.
    pub fn command(&self, args: &[&str]) -> Command {
        self.enclosed(self.project.command(args))
    }

    /// The agent program itself, in the project, in the same environment.
    pub fn program(&self) -> Command {
        let mut command = Command::new(agents().join("bin").join(self.driven.name));
        command.current_dir(self.project.root());
        self.enclosed(command)
    }

    fn enclosed(&self, mut command: Command) -> Command {
        command.env_clear();
        command.env("PATH", &self.path).env("HOME", self.project.home());
        command.env("TMPDIR", self.project.path(".tmp"));
        // An agent may run the tests; what they start stands for people all the same.
        command.env("COUNTERSIGN_TEST_PROCESS", std::process::id().to_string());
        command.env("COUNTERSIGN_TEST_HOME", self.project.home());
        command.envs((self.driven.variables)(&self.service.url())).env(OTHER_KEY, "ghp-not-for-you");
        if let Some(key) = self.key {
            command.env(self.driven.key_variable, key);
        }
        command
    }

    /// Configures the reviewer, for a rule about all Markdown files.
    pub fn configure(&self, reviewer: &str, limits: &str) -> &Self {
        let (name, keys) = (self.driven.name, (self.driven.keys)(&self.service.url()));
        let config = format!(
            "version: 1\nreviewers: [{{name: main, use: {name}{keys}{reviewer}}}]\nlimits: {{{limits}}}\nrules: [{{name: r, \
             for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it complete?'}}]}}]\n"
        );
        self.project.write("countersign.yml", config);
        self
    }

    /// A person trusts how work is judged here, in this environment.
    pub fn trust(&self) -> &Self {
        let mut terminal = Terminal::start(&self.command(&["trust", "--yes"]), 200, 50);
        assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
        self
    }

    /// Reviews by configuration.
    pub fn run_configured(&self, more: &[&str]) -> Ran {
        let args = [&["review", "--subject", "x", "--json"], more].concat();
        Running::start(&mut self.command(&args)).wait()
    }

    /// Everything that runs because of this test: it has a folder of this project in its environment, or works in
    /// it.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let own_folder = self.project.path(".tmp").display().to_string();
        let root = self.project.root().canonicalize().unwrap();
        let works_here = |process: &Path| {
            std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(&root))
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let of_ours = |entry: std::fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environ = std::fs::read(entry.path().join("environ")).ok()?;
            let environ = String::from_utf8_lossy(&environ).into_owned();
            (environ.contains(&own_folder) || works_here(&entry.path())).then_some((pid, environ))
        };
        entries.filter_map(of_ours).collect()
    }

    /// The agent program itself, once the service has heard of it: its id and environment.
    pub fn agent(&self, questions: usize) -> (i32, String) {
        eventually("the program asks", || self.service.asked().len() >= questions);
        let is_agent = |(pid, _): &(i32, String)| {
            let name = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            name.file_name().is_some_and(|name| name == self.driven.executable)
        };
        self.processes().into_iter().find(is_agent).expect("the agent program runs")
    }

    /// Nothing runs any more, and nothing of the work is left in temporary folders.
    pub fn assert_clean(&self) {
        self.assert_nothing_runs();
        eventually("no copy is left", || is_empty(&self.project.path(".tmp")));
    }

    /// Nothing runs any more.
    pub fn assert_nothing_runs(&self) {
        eventually("no process is left", || self.processes().is_empty());
    }

    /// Everything that was sent to the service, as it came.
    pub fn sent(&self) -> String {
        self.service.asked().iter().map(|asked| asked.headers.clone() + &asked.text).collect()
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// There is no verdict for this reason, nothing was counted, and nothing is left.
pub fn no_verdict<D: Dialect>(bench: &Bench<D>, ran: Ran, reason: &str, words: &str) -> Value {
    let json = ran.exits(4).json();
    assert_eq!(
        (json["outcome"].as_str(), json["reason"].as_str()),
        (Some("no_verdict"), Some(reason)),
        "{json}"
    );
    assert!(detail(&json).contains(words), "{}", detail(&json));
    assert_eq!(json["review"]["attempts"], 0);
    bench.assert_clean();
    json
}

/// The detail of the first assignment.
pub fn detail(json: &Value) -> &str {
    json["assignments"][0]["detail"].as_str().unwrap_or_default()
}

/// The folder that `cargo xtask test` made.
pub fn agents() -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_AGENTS").map(PathBuf::from);
    folder.expect("these tests need the real agent programs: run cargo xtask test")
}
