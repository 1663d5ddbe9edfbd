//! Python packages that tests need, from PyPI as their list of versions says.
//!
//! They are kept under the digest of the list, like the agent programs. A folder gets its name last, so an existing one
//! is complete; programs in it are started by its `bin/python`, since scripts remember the name it had before.

use crate::agents::{digest, problem};
use crate::cargo::{self, Workspace, cannot_start};
use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that tells tests where Schemathesis is.
pub const SCHEMATHESIS_VARIABLE: &str = "COUNTERSIGN_SCHEMATHESIS";

/// Installs Schemathesis if needed; it tests `serve` against its own description.
pub fn schemathesis(workspace: &Workspace) -> Result<PathBuf, Failure> {
    cargo::step("schemathesis", || provide(workspace.root(), "schemathesis"))
}

/// Installs the packages of `xtask/NAME/requirements.txt` if needed, and returns their folder.
pub fn provide(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    let requirements = root.join("xtask").join(name).join("requirements.txt");
    let versions = fs::read(&requirements).map_err(|error| problem("read", &requirements, &error))?;
    let all = root.join("target").join(name);
    let folder = all.join(digest(&[versions]));
    if folder.is_dir() {
        println!("    found {}", folder.display());
        return Ok(folder);
    }
    let new = all.join(format!("new-{}", std::process::id()));
    fs::create_dir_all(&all).map_err(|error| problem("create", &all, &error))?;
    let made = install(&requirements, &new)
        .and_then(|()| fs::rename(&new, &folder).map_err(|error| problem("name", &folder, &error)));
    if made.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    made.map(|()| folder)
}

fn install(requirements: &Path, new: &Path) -> Result<(), Failure> {
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(new);
    quietly("python3 -m venv", environment)?;
    let mut pip = Command::new(new.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--requirement"]).arg(requirements);
    quietly("pip install", pip)
}

fn quietly(step: &str, mut command: Command) -> Result<(), Failure> {
    println!("    {step}");
    let status = command.stdin(Stdio::null()).status();
    cargo::succeeded(step, status.map_err(|error| cannot_start(step, &error))?)
}
