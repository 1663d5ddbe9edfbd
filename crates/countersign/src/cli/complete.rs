//! `countersign completions`: a completion script.

use super::arguments::CompletionsOptions;
use super::help;
use crate::output::Answer;
use countersign_core::outcome::Outcome;
use serde_json::json;

/// Prints the script.
pub fn run(options: &CompletionsOptions) -> Answer {
    let mut script = vec![];
    clap_complete::generate(options.shell, &mut help::command(), "countersign", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({ "shell": options.shell.to_string(), "script": script });
    Answer::new(Outcome::Passed, script, json)
}
