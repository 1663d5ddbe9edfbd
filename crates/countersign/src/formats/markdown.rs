//! `markdown`: the body of a comment on a pull request, and the summary of a job. Its first line is a mark by which the
//! comment is found again.

use super::report::{Item, Kind, Level, Report};
use super::text::{block, code, line, lines, markdown};

/// A comment on GitHub has 65,536 characters at most.
const BYTES_MAX: usize = 60_000;
const MESSAGE_BYTES_MAX: usize = 1500;
const LINE_BYTES_MAX: usize = 500;
/// How many notes and how many steps are shown.
const LINES_MAX: usize = 20;
/// A message of ours has commands to copy.
const COMMANDS_BYTES_MAX: usize = 8000;
const NAME_BYTES_MAX: usize = 200;

pub fn render(report: &Report) -> String {
    let mut out = format!("{}\n", mark(&report.folder));
    let sign = if report.passes() { "✅" } else { "❌" };
    out.push_str(&format!("### {sign} Countersign: {}\n", markdown(&line(&report.headline, LINE_BYTES_MAX))));
    let end = end(report);
    let mut left_out = 0;
    for (heading, level) in
        [("What blocks", Level::Error), ("What does not block", Level::Warning), ("Notes", Level::Note)]
    {
        let items: Vec<&Item> = report.items.iter().filter(|item| item.level() == level).collect();
        if items.is_empty() {
            continue;
        }
        out.push_str(&format!("\n**{heading}**\n\n"));
        for item in items {
            let row = row(item);
            // What is left out is counted, in a line that needs room too.
            match out.len() + row.len() + end.len() + LINE_BYTES_MAX <= BYTES_MAX && left_out == 0 {
                true => out.push_str(&row),
                false => left_out += 1,
            }
        }
    }
    if left_out > 0 {
        out.push_str(&format!(
            "\n{left_out} more are not shown here, because a comment has no room for them.\n"
        ));
    }
    out.push_str(&end);
    out
}

/// The mark of comments of this project.
fn mark(folder: &str) -> String {
    let key: String = folder
        .chars()
        .take(NAME_BYTES_MAX)
        .map(|c| if c.is_ascii_alphanumeric() || "/._".contains(c) { c } else { '_' })
        .collect();
    format!("<!-- countersign:{} -->", if key.is_empty() { "." } else { &key })
}

fn row(item: &Item) -> String {
    let mut out = String::from("- ");
    if let Some(severity) = item.severity {
        out.push_str(&format!("**{severity}** "));
    }
    match (&item.place, item.target.as_str()) {
        (Some(place), _) => {
            let lines = match (place.line, place.end_line) {
                (Some(first), Some(last)) => format!(":{first}-{last}"),
                (Some(first), None) => format!(":{first}"),
                _ => String::new(),
            };
            out.push_str(&format!("{} ", code(&format!("{}{lines}", place.path))));
        }
        (None, "") => {}
        (None, target) => out.push_str(&format!("{} ", code(&line(target, NAME_BYTES_MAX)))),
    }
    let name = match item.kind {
        Kind::Blocks | Kind::Advice | Kind::Accepted => format!("{} ({})", item.criterion, item.rule),
        _ => item.criterion.replace('_', " "),
    };
    let message = match item.kind {
        Kind::Error | Kind::Outcome => block(&lines(&item.message, COMMANDS_BYTES_MAX)),
        _ => format!("{}\n", markdown(&lines(&item.message, MESSAGE_BYTES_MAX))),
    };
    out.push_str(&format!("{}: {message}", markdown(&line(&name, NAME_BYTES_MAX))));
    out
}

fn end(report: &Report) -> String {
    let mut out = String::from("\n");
    for note in report.notes.iter().take(LINES_MAX) {
        out.push_str(&format!("{}\n\n", markdown(&line(note, LINE_BYTES_MAX))));
    }
    for step in report.next.iter().take(LINES_MAX) {
        out.push_str(&format!("**next:** {}\n\n", markdown(&line(step, LINE_BYTES_MAX))));
    }
    if let Some(review) = &report.review {
        out.push_str(&format!("Review {}\n", code(review)));
    }
    out
}
