//! The row of the qr door.

use super::{Checked, Door, Look};
use countersign_doors::qr::{self, FileError, MODULES_FOLDER, Modules, Phase, StateDir, read_state};
use countersign_engine::config::{Config, Diagnostic, Problems};
use countersign_engine::yaml::unreadable;
use serde_json::json;
use std::path::{Path, PathBuf};

pub const DOOR: Door = Door { check: Some(check), ..Door::plain(qr::DOOR) };

pub fn configured(config: &Config) -> Option<PathBuf> {
    config.qr.state_dir.as_ref().map(|folder| config.root.join(folder))
}

/// Checks the state files in the directory of the environment or the configuration, and the modules.
fn check(look: &Look<'_>) -> Checked {
    let named = std::env::var_os("STATE_DIR").filter(|value| !value.is_empty());
    let dir = named.map(|value| look.here.join(value)).or_else(|| look.config.and_then(configured));
    let files = dir.map(|dir| StateDir::new(dir).files()).unwrap_or_default();
    let states = check_files(&files);
    let of_modules = Modules::of(&look.root.join(MODULES_FOLDER)).err();
    Checked { problems: Problems::together(states.problems.into_iter().chain(of_modules)), ..states }
}

pub fn check_files(files: &[PathBuf]) -> Checked {
    Checked {
        is_there: !files.is_empty(),
        words: files.iter().map(|file| format!("{}: valid\n", file.display())).collect(),
        keys: vec![("state_files", json!(files))],
        problems: Problems::of(files.iter().filter_map(|path| problem(path)).collect()),
        warnings: vec![],
    }
}

fn problem(path: &Path) -> Option<Diagnostic> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if Phase::of_file_name(name).is_none() {
        let names = Phase::ALL.map(Phase::file_name).join(", ");
        let why = format!("only state files can be named here: {names}");
        return Some(unreadable(path, &why).with_hint("all other files are found without naming them"));
    }
    match read_state(path) {
        Ok(Some(_)) => None,
        Ok(None) => Some(unreadable(path, "the file does not exist")),
        Err(FileError::Bad(problem)) => Some(*problem),
        Err(error) => Some(unreadable(path, &error.to_string())),
    }
}
