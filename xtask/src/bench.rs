//! `cargo xtask bench`: measures the build that gets installed and shipped, the profile `dist`.

use crate::cargo::{self, Workspace};
use crate::failure::Failure;
use std::ffi::OsString;

/// Builds what users install, and runs the benchmark `gate` on it with the given arguments.
pub fn run(workspace: &Workspace, extra: &[OsString]) -> Result<(), Failure> {
    let step = "cargo bench --profile dist --locked --package countersign --bench gate";
    let mut command = workspace.cargo(["bench", "--profile", "dist", "--locked"]);
    command.args(["--package", "countersign", "--bench", "gate", "--"]).args(extra);
    cargo::run(step, command)
}
