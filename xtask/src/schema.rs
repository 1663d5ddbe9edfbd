//! `cargo xtask schema`: writes the published JSON schema from the configuration types, and the tables of docs/json.md
//! from the types of answers.

use crate::cargo::Workspace;
use crate::failure::Failure;
use crate::watch;

/// Runs the tests that compare the published files, and lets them write instead. Watched, because a filter that
/// matches no test would otherwise succeed and write nothing.
pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    for (package, test) in
        [("countersign-engine", "schema_is_published"), ("countersign", "json_docs_are_published")]
    {
        let mut command =
            workspace.cargo(["test", "--locked", "--package", package, "--color", "never", test]);
        command.env("UPDATE_SCHEMA", "1");
        watch::run(&format!("cargo test --locked --package {package} {test}"), command)?;
    }
    Ok(())
}
