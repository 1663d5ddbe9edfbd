//! `countersign validate`: configuration, rules, jobs, tasks, state files and qr modules. It asks no reviewer and writes
//! nothing.

use super::{Failure, Global};
use crate::output::Answer;
use clap::Args;
use countersign_app::validate::validate;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ValidateOptions {
    /// State files (qr-PHASE.json) to check instead; without any, everything of the project and of STATE_DIR
    pub files: Vec<PathBuf>,
}

pub fn run(global: &Global, options: &ValidateOptions) -> Result<Answer, Failure> {
    let answer = validate(global.config.as_deref(), &options.files)?;
    let text: String = answer.own.lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(Answer::of(answer, text))
}
