//! `gitlab`: a Code Quality report of GitLab. It shows one entry for each fingerprint, and knows no report that failed: what
//! is no pass is an entry with the highest severity.

use super::report::{Item, Kind, Level, Report};
use super::text::{line, lines};
use countersign_core::criterion::Severity;
use serde_json::{Value, json};

const ENTRIES_MAX: usize = 5000;
const DESCRIPTION_BYTES_MAX: usize = 2000;
const NAME_BYTES_MAX: usize = 200;
/// The file of what is about no file.
const NO_FILE: &str = "countersign.yml";

pub fn render(report: &Report) -> String {
    let entries: Vec<Value> = report.at_most(ENTRIES_MAX).iter().map(|item| entry(report, item)).collect();
    format!("{}\n", Value::Array(entries))
}

fn entry(report: &Report, item: &Item) -> Value {
    let (path, line_number) = match &item.place {
        Some(place) => (place.path.clone(), place.line.unwrap_or(1).max(1)),
        None => (report.in_folder(NO_FILE), 1),
    };
    let message = match item.message.trim() {
        "" => item.rule_id(),
        message => lines(message, DESCRIPTION_BYTES_MAX),
    };
    json!({
        "description": message,
        "check_name": line(&item.rule_id(), NAME_BYTES_MAX),
        "fingerprint": item.fingerprint,
        "severity": severity(item),
        "location": { "path": path, "lines": { "begin": line_number } },
    })
}

fn severity(item: &Item) -> &'static str {
    match (item.kind, item.severity, item.level()) {
        (Kind::Blocks, Some(Severity::Must), _) => "critical",
        (Kind::Blocks, ..) => "major",
        (_, _, Level::Error) => "blocker",
        (_, _, Level::Warning) => "minor",
        (_, _, Level::Note) => "info",
    }
}
