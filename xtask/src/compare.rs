//! `cargo xtask compare`: countersign beside spec-runner, which comes from PyPI as `xtask/compare/requirements.txt` says.
//!
//! It measures the binary that is there: of the profile `dist`, or else of another one, and says which.

use crate::cargo::{self, Workspace};
use crate::failure::Failure;
use crate::python;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Profiles by their folder below `target`, the best first, with the command that builds each.
const PROFILES: [(&str, &str); 3] = [
    ("dist", "cargo build --profile dist --locked"),
    ("release", "cargo build --release --locked"),
    ("debug", "cargo build --locked"),
];

/// Installs spec-runner if needed, and prints the table.
pub fn run(workspace: &Workspace, extra: &[OsString]) -> Result<(), Failure> {
    let (profile, ours) = binary(workspace.root())?;
    let folder = cargo::step("spec-runner", || python::provide(workspace.root(), "compare"))?;
    println!("    measuring {} (profile {profile})", ours.display());
    if profile != PROFILES[0].0 {
        println!("    it is not what users install: `{}` builds that", PROFILES[0].1);
    }
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(workspace.root().join("xtask/compare/compare.py")).arg(ours);
    command.arg(folder.join("bin")).args(extra);
    cargo::run("compare.py", command)
}

fn binary(root: &Path) -> Result<(&'static str, PathBuf), Failure> {
    let built = |(profile, _): &(&'static str, &str)| {
        let file = root.join("target").join(profile).join("countersign");
        file.is_file().then_some((*profile, file))
    };
    PROFILES
        .iter()
        .find_map(built)
        .ok_or_else(|| Failure::Problem(format!("countersign is not built: run `{}` first", PROFILES[0].1)))
}
