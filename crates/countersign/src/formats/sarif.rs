//! `sarif`: SARIF 2.1.0, as code scanning of GitHub takes it. A result there needs a file, and keeps its alert by rule, path
//! and `primaryLocationLineHash`.

use super::report::{Item, Level, Place, Report};
use super::text::{line, lines};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// GitHub takes 25,000 results and keeps 5,000 of them.
const RESULTS_MAX: usize = 5000;
/// With the most results a file stays below 10 MB.
const MESSAGE_BYTES_MAX: usize = 1500;
const HELP_BYTES_MAX: usize = 1000;
const NAME_BYTES_MAX: usize = 200;
/// The file of what is about no file.
const NO_FILE: &str = "countersign.yml";

pub fn render(report: &Report) -> String {
    let items = report.at_most(RESULTS_MAX);
    let mut rules = BTreeMap::new();
    for item in &items {
        rules.entry(item.rule_id()).or_insert_with(|| rule(item));
    }
    let results: Vec<Value> = items.iter().map(|item| result(report, item)).collect();
    let rules: Vec<Value> = rules.into_values().collect();
    let driver = json!({
        "name": "countersign",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let run = json!({
        "tool": { "driver": driver },
        "automationDetails": { "id": format!("countersign/{}", report.folder) },
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation(report)],
        "results": results,
    });
    format!("{}\n", json!({ "version": "2.1.0", "runs": [run] }))
}

fn invocation(report: &Report) -> Value {
    let words = std::iter::once(&report.headline).chain(&report.notes);
    let notifications: Vec<Value> = words
        .map(|words| {
            let level = if report.passes() { "note" } else { "error" };
            json!({ "level": level, "message": { "text": line(words, MESSAGE_BYTES_MAX) } })
        })
        .collect();
    json!({
        // A verdict is an execution that succeeded, also one with findings.
        "executionSuccessful": report.is_judged(),
        "toolExecutionNotifications": notifications,
    })
}

fn rule(item: &Item) -> Value {
    let (help, name) = (lines(&item.help, HELP_BYTES_MAX), line(&item.rule_id(), NAME_BYTES_MAX));
    let help = if help.is_empty() { name.clone() } else { help };
    let blocks = item.severity.map_or(String::new(), |severity| format!("\nSeverity: {severity}"));
    json!({
        "id": name,
        "name": name,
        "shortDescription": { "text": line(&item.help_or_name(), NAME_BYTES_MAX) },
        "fullDescription": { "text": help },
        "help": { "text": format!("{help}{blocks}") },
        "defaultConfiguration": { "level": level(item) },
    })
}

fn result(report: &Report, item: &Item) -> Value {
    let elsewhere = || Place { path: report.in_folder(NO_FILE), line: None, end_line: None };
    let place = item.place.clone().unwrap_or_else(elsewhere);
    let mut location = json!({ "artifactLocation": { "uri": uri(&place.path) } });
    // Without a line GitHub has no place to show an alert at.
    let first = place.line.unwrap_or(1).max(1);
    location["region"] = json!({ "startLine": first });
    if let Some(last) = place.end_line.filter(|last| *last > first) {
        location["region"]["endLine"] = json!(last);
    }
    let mut message = lines(&item.message, MESSAGE_BYTES_MAX);
    if message.is_empty() {
        message = line(&item.rule_id(), NAME_BYTES_MAX);
    }
    json!({
        "ruleId": line(&item.rule_id(), NAME_BYTES_MAX),
        "level": level(item),
        "message": { "text": message },
        "locations": [{ "physicalLocation": location }],
        "partialFingerprints": { "primaryLocationLineHash": format!("{}:1", item.fingerprint) },
        "properties": { "reviewer": item.reviewer, "target": line(&item.target, NAME_BYTES_MAX) },
    })
}

fn level(item: &Item) -> &'static str {
    match item.level() {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(path, KEPT).to_string()
}
