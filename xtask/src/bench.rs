//! `cargo xtask bench`: measures the release build.

use crate::cargo::{self, Workspace};
use crate::failure::Failure;
use std::ffi::OsString;

/// Builds what users get, then runs the benchmark `gate` on it with the given arguments.
pub fn run(workspace: &Workspace, extra: &[OsString]) -> Result<(), Failure> {
    cargo::run("cargo build --release --locked", workspace.cargo(["build", "--release", "--locked"]))?;
    let mut command =
        workspace.cargo(["bench", "--locked", "--package", "countersign", "--bench", "gate", "--"]);
    command.args(extra);
    cargo::run("cargo bench --locked --package countersign --bench gate", command)
}
