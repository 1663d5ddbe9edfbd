//! The program in its working form: events of what it says and does.

use crate::programs::working::used;
use crate::programs::{ModelArgument, Working};
use serde_json::Value;

pub(super) const WORKING: Working = Working {
    args: &["run", "--format", "json"],
    model: ModelArgument::Next("-m"),
    last: &[],
    own: &["run"],
    set: &[],
    parse_output: super::parse_output::parse_output,
    live,
};

fn live(event: &Value) -> Option<String> {
    let part = &event["part"];
    match event["type"].as_str()? {
        "text" => part["text"].as_str().map(str::to_owned),
        "tool_use" => Some(used(part["tool"].as_str()?, &part["state"]["input"])),
        _ => None,
    }
}
