//! State files of reviews in items.

use countersign_doors::qr::file::{FileError, read};
use countersign_doors::qr::{Phase, StateDir};
use countersign_engine::config::{Config, Diagnostic};
use countersign_engine::yaml::unreadable;
use std::path::{Path, PathBuf};

/// The state files that are where the environment or the project's file says.
pub fn files(config: Option<&Config>, here: &Path) -> Vec<PathBuf> {
    let named = std::env::var_os("STATE_DIR").filter(|value| !value.is_empty()).map(|value| here.join(value));
    let dir =
        named.or_else(|| config.and_then(|config| Some(config.root.join(config.qr.state_dir.as_ref()?))));
    dir.map(|dir| StateDir::new(dir).files()).unwrap_or_default()
}

/// Everything that is wrong with these files.
pub fn problems(files: &[PathBuf]) -> Vec<Diagnostic> {
    files.iter().filter_map(|path| problem(path)).collect()
}

fn problem(path: &Path) -> Option<Diagnostic> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if Phase::of_file_name(name).is_none() {
        let names = Phase::ALL.map(Phase::file_name).join(", ");
        let why = format!("only state files can be named here: {names}");
        return Some(unreadable(path, &why).with_hint("everything else is found by itself"));
    }
    match read(path) {
        Ok(Some(_)) => None,
        Ok(None) => Some(unreadable(path, "there is no such file")),
        Err(FileError::Bad(problem)) => Some(*problem),
        Err(error) => Some(unreadable(path, &error.to_string())),
    }
}
