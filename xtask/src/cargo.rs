//! Runs cargo from the repository root, each step under a heading and with its elapsed time.

use crate::failure::Failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// The repository and the cargo that started us.
pub struct Workspace {
    root: PathBuf,
    cargo: OsString,
}

impl Workspace {
    /// Asks cargo's own variables where we are: a path compiled in would be wrong after the clone moved.
    pub fn find() -> Result<Self, Failure> {
        let missing = |name: &str| Failure::Problem(format!("{name} is not set; run it as `cargo xtask`"));
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| missing("CARGO_MANIFEST_DIR"))?;
        let cargo = std::env::var_os("CARGO").ok_or_else(|| missing("CARGO"))?;
        let root = PathBuf::from(xtask).join("..");
        let root = root.canonicalize().map_err(|error| {
            Failure::Problem(format!("cannot find the repository root {}: {error}", root.display()))
        })?;
        Ok(Self { root, cargo })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A cargo command at the root, without standard input: the same at a desk and in CI.
    pub fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args(args).current_dir(&self.root).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_outer_setting) {
                command.env_remove(name);
            }
        }
        command
    }
}

/// Whether a variable describes where xtask itself runs and would mislead the tests: a git hook's repository,
/// the settings of a Countersign that has these tests as its check, the package variables of `cargo run`.
fn is_outer_setting(name: &str) -> bool {
    let git = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
    let prefixes = ["COUNTERSIGN_", "CARGO_PKG_", "CARGO_MANIFEST_"];
    git.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Runs one step under its heading, then prints its result and its time.
pub fn step<T>(title: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    println!("\n==> {title}");
    let started = Instant::now();
    let result = work();
    let how = if result.is_ok() { "passed in" } else { "failed after" };
    println!("    {how} {:.1} s", started.elapsed().as_secs_f64());
    result
}

/// Runs one program as a step, its output going straight to the terminal.
pub fn run(title: &str, mut command: Command) -> Result<(), Failure> {
    step(title, || {
        let status = command.status().map_err(|error| cannot_start(title, &error))?;
        succeeded(title, status)
    })
}

/// The failure of a program that ended with an error.
pub fn succeeded(step: &str, status: ExitStatus) -> Result<(), Failure> {
    if status.success() { Ok(()) } else { Err(Failure::Step { step: step.to_owned(), code: status.code() }) }
}

pub fn cannot_start(step: &str, error: &std::io::Error) -> Failure {
    Failure::Problem(format!("cannot start `{step}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_the_outside_are_dropped() {
        let table = [
            ("GIT_DIR", true),
            ("GIT_INDEX_FILE", true),
            ("GIT_SSH_COMMAND", false),
            ("COUNTERSIGN_CALL", true),
            ("CARGO_PKG_NAME", true),
            ("CARGO_MANIFEST_DIR", true),
            ("CARGO_HOME", false),
            ("CARGO_TARGET_DIR", false),
            ("PATH", false),
        ];
        for (name, expected) in table {
            assert_eq!(is_outer_setting(name), expected, "{name}");
        }
    }
}
