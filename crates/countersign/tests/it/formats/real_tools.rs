//! Programs of others that check reports and files. `cargo xtask test` installs them.

use std::path::PathBuf;
use std::process::Command;

/// Where the programs are.
pub fn tools() -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_CI_TOOLS");
    PathBuf::from(
        folder.expect("COUNTERSIGN_CI_TOOLS is not set: run `cargo xtask test`, or `cargo xtask ci-tools`"),
    )
}

/// Runs lines of Python with the packages of the folder, and gives back what they print.
#[track_caller]
pub fn python(lines: &str, args: &[&str]) -> String {
    run(Command::new(tools().join("bin/python")).arg("-c").arg(lines).args(args))
}

#[track_caller]
pub fn run(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    said
}
