//! A temporary project, and the program run in it as a user would.

use crate::{Ran, Running, Terminal};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// Variables of the machine a test runs on that must not reach the program.
const FOREIGN: [&str; 52] = [
    "CI",
    "GITHUB_ACTIONS",
    "GITHUB_EVENT_NAME",
    "GITHUB_EVENT_PATH",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_OUTPUT",
    "GITLAB_CI",
    "CI_PIPELINE_SOURCE",
    "CI_COMMIT_SHA",
    "CI_DEFAULT_BRANCH",
    "CI_COMMIT_BEFORE_SHA",
    "COUNTERSIGN_LEDGER_HEAD",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "COUNTERSIGN_ROOT",
    "COUNTERSIGN_CONFIG",
    "COUNTERSIGN_REVIEWER",
    "COUNTERSIGN_LOG",
    "COUNTERSIGN_CALL",
    "DEEPWORK_ADDITIONAL_JOBS_FOLDERS",
    "STATE_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "CODEX_CI",
    "CODEX_TOOL_CALL_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
    "QWEN_CODE",
    "OPENCODE",
    "OPENCODE_PID",
    "AGENT",
    "AI_AGENT",
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "GIT_CONFIG_COUNT",
    "CLICOLOR_FORCE",
    "NO_COLOR",
    // Tests must not send notifications.
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
];

/// A folder with a project in it. Gone with this value.
pub struct Project {
    folder: TempDir,
    home: TempDir,
    program: PathBuf,
    /// Where scripted reviewers are.
    judges: PathBuf,
    /// Whether a person trusts the configuration as it is before work is judged by it.
    is_trusting: bool,
    /// The configuration as it was trusted last.
    trusted: Mutex<Vec<Option<Vec<u8>>>>,
}

impl Project {
    /// An empty project for a program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The root is where `.git` is; nothing else of git is needed.
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let (home, judges) = (tempfile::tempdir().unwrap(), folder.path().to_owned());
        Self { folder, home, program: program.into(), judges, is_trusting: false, trusted: Mutex::default() }
    }

    /// The same with scripted reviewers outside of the project: a gate starts none that lies inside and is not committed.
    pub fn judged_from_outside(mut self) -> Self {
        self.judges = self.home.path().join("judges");
        std::fs::create_dir(&self.judges).unwrap();
        self
    }

    /// The same with a person who trusts the configuration as it is, before tasks and items are judged by it.
    pub fn trusting(mut self) -> Self {
        self.is_trusting = true;
        self
    }

    /// Where scripted reviewers are.
    pub fn judges(&self) -> &Path {
        &self.judges
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The home of its user.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A path in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// The folder of the ledger, also where there is none yet.
    pub fn ledger_dir(&self) -> PathBuf {
        match self.path(".git/HEAD").is_file() {
            true => self.path(".git/countersign"),
            false => self.path(".countersign"),
        }
    }

    /// Removes the ledger, and what the home of its user has of it.
    pub fn forget_ledger(&self) {
        std::fs::remove_dir_all(self.ledger_dir()).unwrap();
        let _ = std::fs::remove_dir_all(self.home().join(".local/state/countersign/heads"));
    }

    /// A file in the folder of the ledger.
    pub fn ledger_path(&self, relative: &str) -> PathBuf {
        self.ledger_dir().join(relative)
    }

    /// Reads a text in the folder of the ledger.
    pub fn read_own(&self, relative: &str) -> String {
        std::fs::read_to_string(self.ledger_path(relative)).unwrap()
    }

    /// Writes a file.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Reads a file.
    pub fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    /// The program with arguments, as a user would type it in the root.
    pub fn command(&self, args: &[&str]) -> Command {
        if self.is_trusting && matches!(args, ["run" | "retry" | "qr", ..]) {
            self.trust_anew();
        }
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.root()).env("HOME", self.home());
        FOREIGN.iter().for_each(|name| {
            command.env_remove(name);
        });
        // An agent may run the tests; what they start stands for people all the same.
        command.env("COUNTERSIGN_TEST_PROCESS", std::process::id().to_string());
        command.env("COUNTERSIGN_TEST_HOME", self.home());
        command
    }

    /// A person trusts how work is judged here: the command at a real terminal.
    pub fn trust(&self) -> &Self {
        self.trust_in(self.root())
    }

    /// The same, where there is a configuration that is not trusted as it is.
    pub fn trust_anew(&self) -> &Self {
        let files = ["countersign.yml", "spec-runner.config.yaml", "spec/executor.config.yaml"];
        let now: Vec<_> = files.iter().map(|file| std::fs::read(self.path(file)).ok()).collect();
        let mut trusted = self.trusted.lock().unwrap();
        if now.iter().any(Option::is_some) && *trusted != now {
            // A file with a mistake is not trusted; what was trusted before still counts.
            Terminal::start(&self.command(&["trust", "--yes"]), 200, 50).ends();
            *trusted = now;
        }
        self
    }

    /// The same in another folder.
    pub fn trust_in(&self, folder: &Path) -> &Self {
        typed(self.command(&["trust", "--yes"]).current_dir(folder));
        self
    }

    /// A person types a command that asks for trust, says yes, and it succeeds.
    pub fn type_in(&self, args: &[&str]) -> &Self {
        let mut terminal = Terminal::start(&self.command(args), 200, 50);
        terminal.until("[y/N]");
        terminal.send("y\n");
        assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
        self
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// Starts it.
    pub fn start(&self, args: &[&str]) -> Running {
        Running::start(&mut self.command(args))
    }
}

fn typed(command: &Command) {
    let mut terminal = Terminal::start(command, 200, 50);
    assert_eq!(terminal.ends(), 0, "{}", terminal.contents());
}
