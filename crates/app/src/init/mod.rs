//! `countersign init`: a first `countersign.yml` for a project, and the entries in the settings of agents.

pub mod agents;
pub mod compose;
pub mod detect;
pub mod packs;
mod patterns;
#[cfg(test)]
mod tests;

pub(crate) use compose::default_questions;

use crate::Failure;
use crate::review_request::unmatched;
use countersign_engine::config::{self, Config, Environment, FILE_NAME, FileBytes, Flags, Gathered, Origin};
use countersign_engine::reviewer::checks;
use std::path::{Path, PathBuf};

/// Checks the new file before it is written, as every command will read it.
pub fn hold(file: &Path, text: &str, files: &[String]) -> Result<Config, Failure> {
    let config = resolve(file, text, file.parent().unwrap_or(file).to_owned())?;
    unmatched(&config, &[files, &[FILE_NAME.to_owned()]].concat(), |_| true)?;
    Ok(config)
}

/// The configuration in a text, without flags, environment and user configuration.
pub(crate) fn resolve(path: &Path, text: &str, root: PathBuf) -> Result<Config, Failure> {
    let gathered = Gathered {
        root,
        root_origin: Origin::Default,
        project: Some(FileBytes { path: path.to_owned(), bytes: text.as_bytes().to_vec() }),
        project_origin: Origin::Default,
        project_problem: None,
        user: None,
    };
    Ok(config::resolve(&gathered, &Flags::default(), &Environment::default(), &checks::problem)?)
}
