//! A temporary project, and the program run in it as a user would.

use crate::{Ran, Running};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Variables of the machine a test runs on that must not reach the program.
const FOREIGN: [&str; 22] = [
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
    "CLAUDECODE",
    "GEMINI_CLI",
    "OPENCODE",
    "CODEX_SANDBOX",
    "CLICOLOR_FORCE",
    "NO_COLOR",
    // Nobody who runs tests wants to be told of what happens in them.
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
