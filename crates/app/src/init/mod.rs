//! A first `countersign.yml` for a project as it is: what is found in it, and the file in words. And what agents are
//! told of us in their settings.

pub mod agents;
pub mod compose;
pub mod detect;
mod patterns;
#[cfg(test)]
mod tests;

pub use compose::default_questions;

use crate::Failure;
use crate::wanted::unmatched;
use countersign_engine::config::{self, Config, Environment, FILE_NAME, FileBytes, Flags, Gathered, Origin};
use countersign_engine::reviewer::checks;
use std::path::Path;

/// Reads the new file as every command will, before it is written: what `init` makes is valid.
pub fn hold(file: &Path, text: &str, files: &[String]) -> Result<Config, Failure> {
    let root = file.parent().unwrap_or(file).to_owned();
    let project = Some(FileBytes { path: file.to_owned(), bytes: text.as_bytes().to_vec() });
    let gathered = Gathered {
        root,
        root_origin: Origin::Default,
        project,
        project_origin: Origin::Default,
        project_problem: None,
        user: None,
    };
    let config = config::resolve(&gathered, &Flags::default(), &Environment::default(), &checks::problem)?;
    unmatched(&config, &[files, &[FILE_NAME.to_owned()]].concat())?;
    Ok(config)
}
