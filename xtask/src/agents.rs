//! The agent programs that tests drive, installed from npm as the lock file says.
//!
//! They are kept under the digest of the lock, so that a second run finds them and a new lock does not find
//! the old ones. A folder gets its name last, so an existing one is complete.

use crate::cargo::{self, Workspace, cannot_start};
use crate::failure::Failure;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that tells tests where the programs are.
pub const FOLDER_VARIABLE: &str = "COUNTERSIGN_AGENTS";

/// What npm needs; the digest is over both.
const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the programs if needed, and returns their folder.
pub fn run(workspace: &Workspace) -> Result<PathBuf, Failure> {
    cargo::step("agent programs", || provide(workspace.root()))
}

fn provide(root: &Path) -> Result<PathBuf, Failure> {
    provide_npm(root, "agents", PROGRAMS)
}

/// Installs the packages of `xtask/NAME` if needed, with links to these programs in `bin`, and returns their folder.
pub fn provide_npm(root: &Path, name: &str, programs: &[(&str, &str)]) -> Result<PathBuf, Failure> {
    let source = root.join("xtask").join(name);
    let contents: Result<Vec<_>, _> = FILES.iter().map(|name| fs::read(source.join(name))).collect();
    let contents = contents.map_err(|error| problem("read", &source, &error))?;
    let all = root.join("target").join(name);
    let folder = all.join(digest(&contents));
    if folder.is_dir() {
        println!("    found {}", folder.display());
        return Ok(folder);
    }
    let new = all.join(format!("new-{}", std::process::id()));
    fs::create_dir_all(&new).map_err(|error| problem("create", &new, &error))?;
    let made = install(&source, &new, programs)
        .and_then(|()| fs::rename(&new, &folder).map_err(|error| problem("name", &folder, &error)));
    if made.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    made.map(|()| folder)
}

fn install(source: &Path, new: &Path, programs: &[(&str, &str)]) -> Result<(), Failure> {
    for name in FILES {
        fs::copy(source.join(name), new.join(name)).map_err(|error| problem("copy to", new, &error))?;
    }
    let step = "npm ci --ignore-scripts --no-audit --no-fund";
    println!("    {step}");
    let mut words = step.split(' ');
    let mut npm = Command::new(words.next().unwrap_or_default());
    npm.args(words).current_dir(new).stdin(Stdio::null());
    cargo::succeeded(step, npm.status().map_err(|error| cannot_start(step, &error))?)?;
    let bin = new.join("bin");
    fs::create_dir(&bin).map_err(|error| problem("create", &bin, &error))?;
    for (name, inside) in programs {
        link(new, &bin, name, inside).map_err(|error| problem(&format!("find `{name}` in"), new, &error))?;
    }
    Ok(())
}

/// What each program is called, and where npm puts it: the programs themselves, since the scripts that would
/// link to them are not run. `*` stands for the name of a platform.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "@anthropic-ai/claude-code-*/claude"),
    ("codex", "@openai/codex-*/vendor/*/bin/codex"),
    ("conformance", "@modelcontextprotocol/conformance/dist/index.js"),
    ("gemini", "@google/gemini-cli/bundle/gemini.js"),
    ("inspector", "@modelcontextprotocol/inspector/cli/build/index.js"),
    ("node", "node-*/bin/node"),
    ("opencode", "opencode-*/bin/opencode"),
];

fn link(new: &Path, bin: &Path, name: &str, inside: &str) -> io::Result<()> {
    let found = find(&new.join("node_modules"), inside)?;
    let missing = || io::Error::other("npm brought no program for this machine");
    let relative = found.as_deref().and_then(|found| found.strip_prefix(new).ok()).ok_or_else(missing)?;
    std::os::unix::fs::symlink(Path::new("..").join(relative), bin.join(name))
}

/// The first file that fits: a part of the path with a `*` at its end fits every name that begins like it.
fn find(folder: &Path, inside: &str) -> io::Result<Option<PathBuf>> {
    let (part, rest) = inside.split_once('/').map_or((inside, None), |(part, rest)| (part, Some(rest)));
    let Some(beginning) = part.strip_suffix('*') else {
        let path = folder.join(part);
        return match rest {
            Some(rest) if path.is_dir() => find(&path, rest),
            Some(_) => Ok(None),
            None => Ok(path.is_file().then_some(path)),
        };
    };
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let (true, Some(rest)) = (entry.file_name().to_string_lossy().starts_with(beginning), rest)
            && let Some(found) = find(&entry.path(), rest)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

pub fn problem(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Problem(format!("cannot {what} {}: {error}", path.display()))
}

/// A name for contents (FNV-1a): it tells one lock from the next, and is no protection.
pub fn digest(contents: &[Vec<u8>]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", contents.iter().flatten().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_depends_on_every_byte() {
        assert_eq!(digest(&[]), "cbf29ce484222325");
        assert_eq!(digest(&[b"a".to_vec()]), "af63dc4c8601ec8c");
        assert_ne!(digest(&[b"ab".to_vec()]), digest(&[b"ba".to_vec()]));
    }

    #[test]
    fn the_lock_names_versions_and_digests_and_no_place() {
        let lock = include_str!("../agents/package-lock.json");
        assert!(lock.contains("\"integrity\"") && !lock.contains("\"resolved\""));
    }
}
