//! `github`: the verdict as text, and commands that a runner of GitHub Actions shows beside the lines of a pull request.
//!
//! A step shows ten errors, ten warnings and ten notices, and drops the rest without a word: the first error is the verdict
//! with the count of what has no room.

use super::log_lines::without_commands;
use super::report::{Item, Level, Report};
use super::text::{line, lines};

const SHOWN_MAX: usize = 10;
const MESSAGE_BYTES_MAX: usize = 4096;
const TITLE_BYTES_MAX: usize = 200;

pub fn render(report: &Report) -> String {
    let all: Vec<(Level, Vec<&Item>)> = [Level::Error, Level::Warning, Level::Note]
        .map(|level| (level, report.items.iter().filter(|item| item.level() == level).collect()))
        .into();
    // The verdict is one of its level.
    let room = |level: Level| if level == verdict_level(report) { SHOWN_MAX - 1 } else { SHOWN_MAX };
    let left_out: usize = all.iter().map(|(level, items)| items.len().saturating_sub(room(*level))).sum();
    let mut out = command(verdict_level(report), "countersign", None, &verdict(report, left_out));
    for (level, items) in &all {
        for item in items.iter().take(room(*level)) {
            out.push_str(&annotation(*level, item));
        }
    }
    out
}

fn verdict_level(report: &Report) -> Level {
    if report.passes() { Level::Note } else { Level::Error }
}

fn verdict(report: &Report, left_out: usize) -> String {
    let mut words = report.headline.clone();
    if left_out > 0 {
        words.push_str(&format!(
            "\n{left_out} more are not shown as annotations, because GitHub shows {SHOWN_MAX} of a kind: see the log or the summary of the job"
        ));
    }
    report.notes.iter().for_each(|note| words.push_str(&format!("\n{note}")));
    report.next.iter().for_each(|step| words.push_str(&format!("\nnext: {step}")));
    words
}

fn annotation(level: Level, item: &Item) -> String {
    let title = match &item.severity {
        Some(severity) => format!("{} ({severity})", item.rule_id()),
        None => item.rule_id(),
    };
    command(level, &title, Some(item), &item.message)
}

fn command(level: Level, title: &str, item: Option<&Item>, message: &str) -> String {
    let name = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let mut properties = vec![];
    if let Some(place) = item.and_then(|item| item.place.as_ref()) {
        properties.push(("file", place.path.clone()));
        properties.extend(place.line.map(|line| ("line", line.to_string())));
        properties.extend(place.end_line.map(|line| ("endLine", line.to_string())));
    }
    properties.push(("title", line(title, TITLE_BYTES_MAX)));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let message = lines(message, MESSAGE_BYTES_MAX);
    format!("::{name} {}::{}\n", properties.join(","), data(&without_commands(&message)))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
