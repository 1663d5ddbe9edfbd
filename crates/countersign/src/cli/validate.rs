//! `countersign validate`: configuration, rules, jobs, tasks, state files and qr modules, asking nobody and writing
//! nothing.

use super::arguments::ValidateOptions;
use super::{Failure, Global};
use crate::output::Answer;
use countersign_app::validate::validate;

/// Checks everything that can be checked without asking, or the files that are named.
pub fn run(global: &Global, options: &ValidateOptions) -> Result<Answer, Failure> {
    let answer = validate(global.config.as_deref(), &options.files)?;
    let text: String = answer.own.lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(Answer::of(answer, text))
}
