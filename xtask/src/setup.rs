//! Installs the programs that tests need besides the Rust toolchain.
//!
//! A test that finds a program missing has to fail, not to skip itself; so they are checked here, first.

use crate::args::Amount;
use crate::cargo::{self, Workspace, cannot_start};
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needed {
    program: &'static str,
    debian_package: &'static str,
}

/// Every program that tests start. Add a line with the first test that needs it.
const NEEDED: &[Needed] = &[
    Needed { program: "git", debian_package: "git" },
    Needed { program: "sh", debian_package: "dash" },
    Needed { program: "bash", debian_package: "bash" },
    Needed { program: "curl", debian_package: "curl" },
    Needed { program: "mkfifo", debian_package: "coreutils" },
    Needed { program: "mount", debian_package: "mount" },
    Needed { program: "script", debian_package: "bsdutils" },
    Needed { program: "setpriv", debian_package: "util-linux" },
    Needed { program: "sha256sum", debian_package: "coreutils" },
    Needed { program: "setsid", debian_package: "util-linux" },
    Needed { program: "sqlite3", debian_package: "sqlite3" },
    Needed { program: "ssh-keygen", debian_package: "openssh-client" },
    Needed { program: "tmux", debian_package: "tmux" },
    Needed { program: "unshare", debian_package: "util-linux" },
];

/// What brings the programs of others, where tests drive them.
const BRINGING: &[Needed] = &[
    Needed { program: "chromium", debian_package: "chromium" },
    Needed { program: "npm", debian_package: "npm" },
    Needed { program: "python3", debian_package: "python3-venv" },
];

/// The parts of the toolchain that a minimal installation lacks: the cargo command and rustup's name for it.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Checks that everything is installed, or reports what is missing and how to get it.
pub fn run(workspace: &Workspace, amount: Amount) -> Result<(), Failure> {
    let bringing: &[Needed] = if amount == Amount::Full { BRINGING } else { &[] };
    cargo::step("setup", || provide(workspace, &[NEEDED, bringing].concat()))
}

fn provide(workspace: &Workspace, needed: &[Needed]) -> Result<(), Failure> {
    components(workspace)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let lacking = lacking(needed, &path);
    if !lacking.is_empty() {
        install(&lacking, &path)?;
    }
    let names: Vec<&str> = needed.iter().map(|needed| needed.program).collect();
    println!("    found rustfmt, clippy, {}", names.join(", "));
    Ok(())
}

fn components(workspace: &Workspace) -> Result<(), Failure> {
    let mut lacking = Vec::new();
    for (subcommand, component) in COMPONENTS {
        let mut command = workspace.cargo([subcommand, "--version"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !status.map_err(|error| cannot_start(&format!("cargo {subcommand}"), &error))?.success() {
            lacking.push(*component);
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    Err(Failure::Problem(format!(
        "missing from the Rust toolchain: {}\nInstall with: rustup component add {}",
        lacking.join(", "),
        lacking.join(" ")
    )))
}

/// The needed programs that no folder of `path` has.
fn lacking(needed: &[Needed], path: &OsStr) -> Vec<Needed> {
    let found = |program: &str| std::env::split_paths(path).any(|folder| is_program(&folder.join(program)));
    needed.iter().copied().filter(|needed| !found(needed.program)).collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn install(lacking: &[Needed], path: &OsStr) -> Result<(), Failure> {
    if !is_root() || !has_apt(path) {
        return Err(Failure::Problem(advice(lacking)));
    }
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], packages(lacking).as_slice()].concat())?;
    let still = self::lacking(lacking, path);
    if still.is_empty() { Ok(()) } else { Err(Failure::Problem(advice(&still))) }
}

/// The message for a person who must install by hand.
fn advice(lacking: &[Needed]) -> String {
    let programs: Vec<&str> = lacking.iter().map(|needed| needed.program).collect();
    format!(
        "the tests need programs that are not on PATH: {}\nOn Debian: sudo apt-get install {}",
        programs.join(", "),
        packages(lacking).join(" ")
    )
}

/// Each package once: one package may bring several programs.
fn packages(lacking: &[Needed]) -> Vec<&'static str> {
    lacking.iter().map(|needed| needed.debian_package).collect::<BTreeSet<_>>().into_iter().collect()
}

fn has_apt(path: &OsStr) -> bool {
    self::lacking(&[Needed { program: "apt-get", debian_package: "apt" }], path).is_empty()
}

/// Asks `id`, because the standard library cannot tell; no answer counts as no.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success() && output.stdout.trim_ascii() == b"0")
}

fn apt(args: &[&str]) -> Result<(), Failure> {
    let step = format!("apt-get {}", args.join(" "));
    println!("    {step}");
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    let status = command.status().map_err(|error| cannot_start(&step, &error))?;
    cargo::succeeded(&step, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Needed = Needed { program: "no-such-program-anywhere", debian_package: "nothing" };

    #[test]
    fn what_is_on_the_path_is_not_lacking() {
        let path = std::env::var_os("PATH").unwrap();
        let sh = Needed { program: "sh", debian_package: "dash" };
        assert_eq!(lacking(&[sh, NOWHERE], &path), [NOWHERE]);
        assert_eq!(lacking(&[sh], OsStr::new("")), [sh]);
    }

    #[test]
    fn a_folder_or_a_text_file_is_no_program() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(!is_program(here));
        assert!(!is_program(&here.join("Cargo.toml")));
        assert!(!is_program(&here.join("absent")));
    }

    #[test]
    fn the_advice_names_programs_and_the_command() {
        let npm = Needed { program: "npm", debian_package: "nodejs" };
        let node = Needed { program: "node", debian_package: "nodejs" };
        assert_eq!(
            advice(&[npm, node, NOWHERE]),
            "the tests need programs that are not on PATH: npm, node, no-such-program-anywhere\n\
             On Debian: sudo apt-get install nodejs nothing"
        );
    }
}
