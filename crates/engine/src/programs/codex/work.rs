//! The program in its working form: edits and commands in the folder it runs in.

use crate::programs::working::used;
use crate::programs::{ModelArgument, Working};
use serde_json::Value;

pub(super) const WORKING: Working = Working {
    args: &["exec", "--json", "--color", "never", "--skip-git-repo-check", "-s", "workspace-write"],
    model: ModelArgument::Next("-m"),
    last: &["-"],
    own: &["exec"],
    set: &[],
    parse_output: super::parse_output::parse_output,
    live,
};

fn live(event: &Value) -> Option<String> {
    let item = &event["item"];
    match (event["type"].as_str()?, item["type"].as_str()?) {
        ("item.completed", "agent_message") => item["text"].as_str().map(str::to_owned),
        ("item.started", "command_execution") => Some(format!("$ {}", item["command"].as_str()?)),
        ("item.completed", "file_change") => Some(used("file_change", &item["changes"][0])),
        _ => None,
    }
}
