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

/// The variable that tells tests where the programs are that check reports and files for CI.
pub const CI_TOOLS_VARIABLE: &str = "COUNTERSIGN_CI_TOOLS";
/// The package that has the schema of SARIF, and the file in it.
const SARIF: (&str, &str) = ("@microsoft/sarif-multitool-linux@5.7.0", "sarif-2.1.0.json");

/// Installs zizmor, check-jsonschema, pre-commit, a reader of JUnit and the schema of SARIF if needed.
pub fn ci_tools(workspace: &Workspace) -> Result<PathBuf, Failure> {
    cargo::step("ci-tools", || {
        let folder = provide(workspace.root(), "ci-tools")?;
        sarif_schema(&folder)?;
        Ok(folder)
    })
}

/// Of the package only the schema is kept: its programs take 100 MB.
fn sarif_schema(folder: &Path) -> Result<(), Failure> {
    let (package, schema) = SARIF;
    if folder.join(schema).is_file() {
        return Ok(());
    }
    let new = folder.join(format!("new-{}", std::process::id()));
    fs::create_dir_all(&new).map_err(|error| problem("create", &new, &error))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts", package]).current_dir(&new).stdout(Stdio::null());
    let mut unpack = Command::new("sh");
    unpack
        .args(["-c", "tar -xzf ./*.tgz --strip-components=1 \"package/$1\"", "tar", schema])
        .current_dir(&new);
    let done = quietly("npm pack", pack).and_then(|()| quietly("tar", unpack)).and_then(|()| {
        fs::rename(new.join(schema), folder.join(schema)).map_err(|error| problem("name", &new, &error))
    });
    let _ = fs::remove_dir_all(&new);
    done
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
