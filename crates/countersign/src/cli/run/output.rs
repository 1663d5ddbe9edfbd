//! `countersign output TASK`: what agent, tests and reviewers wrote.

use super::At;
use super::arguments::OutputOptions;
use crate::cli::{Failure, Global};
use crate::output::Answer;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible;
use countersign_doors::run::log;
use serde_json::json;

/// Shows the log of an attempt.
pub fn run(global: &Global, options: &OutputOptions) -> Result<Answer, Failure> {
    let at = At::find(global, &options.list)?;
    let logs = at.layout.logs();
    let all = log::all(&logs, &options.task);
    let file = match options.attempt {
        Some(attempt) => Some(log::path(&logs, &options.task, attempt)).filter(|file| file.exists()),
        None => all.last().cloned(),
    };
    let Some(file) = file else {
        return Err(Failure::usage(format!("there is no output of `{}`", options.task))
            .hint(format!("{} attempts left some; `countersign status` lists the tasks", all.len())));
    };
    let bytes = std::fs::read(&file)
        .map_err(|error| Failure::internal(format!("`{}` cannot be read: {error}", file.display())))?;
    let text = String::from_utf8_lossy(&bytes);
    let json = json!({ "task": options.task, "file": file, "attempts": all.len(), "text": text });
    Ok(Answer::new(Outcome::Passed, visible(text.trim_start()).into_owned(), json))
}
