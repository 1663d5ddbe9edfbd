//! `cargo xtask schema`: writes the published JSON schema from the configuration types.

use crate::cargo::Workspace;
use crate::failure::Failure;
use crate::watch;

/// Runs the test that compares the published file, and lets it write instead. Watched, because a filter that
/// matches no test would otherwise succeed and write nothing.
pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    let mut command =
        workspace.cargo(["test", "--locked", "--package", "countersign-engine", "--color", "never"]);
    command.arg("schema_is_published").env("UPDATE_SCHEMA", "1");
    watch::run("cargo test --locked --package countersign-engine schema_is_published", command)?;
    Ok(())
}
