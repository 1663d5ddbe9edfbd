//! A temporary repository of git, with an identity and nothing of the machine's own settings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A repository in a folder of its own. Gone with this value.
pub struct Repository {
    outer: TempDir,
    root: PathBuf,
}

impl Default for Repository {
    fn default() -> Self {
        Self::new()
    }
}

impl Repository {
    /// A repository without commits, on branch `main`.
    pub fn new() -> Self {
        Self::on("main")
    }

    /// A repository without commits, on a branch of this name.
    pub fn on(branch: &str) -> Self {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap().join("repository");
        std::fs::create_dir(&root).unwrap();
        let repository = Self { outer, root };
        repository.git(["init", "-q", "-b", branch]);
        repository.give_identity();
        repository
    }

    /// A repository without commits in a folder that is there already, on branch `main`.
    pub fn at(root: &Path) -> Self {
        let repository = Self { outer: tempfile::tempdir().unwrap(), root: root.canonicalize().unwrap() };
        repository.git(["init", "-q", "-b", "main"]);
        repository.give_identity();
        repository
    }

    /// A clone of this one, beside it, with further options of `git clone`.
    pub fn cloned(&self, options: &[&str]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap().join("clone");
        let from = format!("file://{}", self.root.display());
        let mut args = vec!["clone", "-q"];
        args.extend(options);
        args.extend([from.as_str(), root.to_str().unwrap()]);
        self.git(args);
        let repository = Self { outer, root };
        repository.give_identity();
        repository
    }

    fn give_identity(&self) {
        self.git(["config", "user.name", "Test"]);
        self.git(["config", "user.email", "test@example.invalid"]);
        self.git(["config", "commit.gpgSign", "false"]);
    }

    /// Its root, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A folder beside it, for linked worktrees and the like.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.outer.path().canonicalize().unwrap().join(name)
    }

    /// A path in it.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Writes a file.
    pub fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Removes a file.
    pub fn remove(&self, relative: &str) -> &Self {
        std::fs::remove_file(self.path(relative)).unwrap();
        self
    }

    /// Commits everything, and gives back the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        self.git(["rev-parse", "HEAD"])
    }

    /// Runs git in it, and gives back what it says, without the last line break. It has to succeed.
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let (done, said, complaint) = self.try_git(args);
        assert!(done, "{said}{complaint}");
        said
    }

    /// Runs git in it: whether it succeeded, what it says, what it complains about.
    pub fn try_git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> (bool, String, String) {
        let ended = Command::new("git")
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
        (ended.status.success(), words(&ended.stdout), words(&ended.stderr))
    }
}
