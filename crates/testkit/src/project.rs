//! A temporary project, and the program run in it as a user would.

use crate::{Ran, Running};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Variables of the machine a test runs on that must not reach the program.
const FOREIGN: [&str; 40] = [
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
}

impl Project {
    /// An empty project for a program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The root is where `.git` is; nothing else of git is needed.
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        Self { folder, home: tempfile::tempdir().unwrap(), program: program.into() }
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
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.root()).env("HOME", self.home());
        FOREIGN.iter().for_each(|name| {
            command.env_remove(name);
        });
        // An agent may run the tests; what it starts here stands for people all the same.
        command.env("COUNTERSIGN_TEST_NO_ANCESTORS", "1");
        command
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
