//! `rdjson`: the Reviewdog Diagnostic Format.

use super::report::{Item, Level, Report};
use super::text::{line, lines};
use serde_json::{Value, json};

const DIAGNOSTICS_MAX: usize = 5000;
const MESSAGE_BYTES_MAX: usize = 4096;
const NAME_BYTES_MAX: usize = 200;
/// The file of what is about no file.
const NO_FILE: &str = "countersign.yml";

pub fn render(report: &Report) -> String {
    let items = report.at_most(DIAGNOSTICS_MAX);
    let diagnostics: Vec<Value> = items.iter().map(|item| diagnostic(report, item)).collect();
    let severity = if report.passes() { "INFO" } else { "ERROR" };
    let whole = json!({
        "source": { "name": "countersign" },
        "severity": severity,
        "diagnostics": diagnostics,
    });
    format!("{whole}\n")
}

fn diagnostic(report: &Report, item: &Item) -> Value {
    let mut location = json!({ "path": report.in_folder(NO_FILE) });
    if let Some(place) = &item.place {
        location = json!({ "path": place.path });
        if let Some(first) = place.line {
            location["range"] = json!({ "start": { "line": first } });
            if let Some(last) = place.end_line.filter(|last| *last > first) {
                location["range"]["end"] = json!({ "line": last });
            }
        }
    }
    let severity = match item.level() {
        Level::Error => "ERROR",
        Level::Warning => "WARNING",
        Level::Note => "INFO",
    };
    json!({
        "message": lines(&item.message, MESSAGE_BYTES_MAX),
        "location": location,
        "severity": severity,
        "code": { "value": line(&item.rule_id(), NAME_BYTES_MAX) },
    })
}
