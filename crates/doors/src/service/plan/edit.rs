//! Edits of a plan: a new status, a new review. All other bytes stay, line endings included.

use super::super::task::TaskStatus;
use super::read::folded;
use super::scan::{Entry, scan};
use super::{MAX_ISSUE_BYTES, MAX_WRITTEN_ISSUES, ReviewBlock};
use countersign_core::markdown::{replaced, split_mark};
use countersign_core::text;
use std::ops::Range;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the plan has no task called `{0}` any more")]
    Missing(String),
    #[error("the plan has several tasks called `{0}`")]
    Twice(String),
}

/// The text with this task in this status, its box ticked to match, and a new review, if there is one.
pub fn write_back(
    text: &str,
    title: &str,
    status: TaskStatus,
    review: Option<&ReviewBlock>,
) -> Result<String, EditError> {
    let (mark, body) = split_mark(text);
    let scan = scan(body);
    let tasks = scan.entries.iter().filter(|entry| entry.is_task());
    let same = |entry: &&Entry| folded(body.get(entry.title.clone()).unwrap_or_default()) == folded(title);
    let mut found = tasks.filter(same);
    let (entry, word) = match (found.next(), found.next()) {
        (Some(entry @ Entry { status: Some(word), .. }), None) => (entry, word.clone()),
        (Some(_), Some(_)) => return Err(EditError::Twice(title.to_owned())),
        _ => return Err(EditError::Missing(title.to_owned())),
    };
    let mut changes: Vec<(Range<usize>, String)> = vec![];
    if body.get(word.clone()).and_then(TaskStatus::of) != Some(status) {
        changes.push((word, status.word().to_owned()));
    }
    let ticked = body.get(entry.tick.clone()).is_some_and(|sign| sign != " ");
    if ticked != status.is_ticked() {
        let sign = if status.is_ticked() { "x" } else { " " };
        changes.push((entry.tick.clone(), sign.to_owned()));
    }
    if let Some(review) = review {
        changes.push(block(body, entry, review, scan.crlf));
    }
    Ok(mark.to_owned() + &replaced(body, changes))
}

/// The review in place of the previous one, or below the task.
fn block(body: &str, entry: &Entry, review: &ReviewBlock, crlf: bool) -> (Range<usize>, String) {
    let newline = if crlf { "\r\n" } else { "\n" };
    let lines = lines(review).join(newline);
    let (span, above) = match &entry.review {
        Some(block) => (block.span.clone(), block.span.start),
        None => (entry.end..entry.end, entry.end),
    };
    let starts_line = body.get(..above).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let before = if starts_line { "" } else { newline };
    // A text without a line end at its end stays so.
    let at_end = span.end == body.len() && !body.ends_with('\n');
    let after = if at_end { "" } else { newline };
    (span, format!("{before}{lines}{after}"))
}

fn lines(review: &ReviewBlock) -> Vec<String> {
    let ReviewBlock { attempt, last_result, issues, reviewed_at } = review;
    let mut lines = vec![
        "  - **Review:**".to_owned(),
        format!("    - **Attempt:** {attempt}"),
        format!("    - **Last Result:** {}", last_result.word()),
    ];
    if !issues.is_empty() {
        lines.push("    - **Issues:**".to_owned());
    }
    let shown = issues.iter().take(MAX_WRITTEN_ISSUES);
    lines.extend(shown.map(|issue| format!("      - {}", one_line(issue))));
    if issues.len() > MAX_WRITTEN_ISSUES {
        lines.push(format!("      - (and {} more)", issues.len() - MAX_WRITTEN_ISSUES));
    }
    lines.push(format!("    - **Reviewed At:** {}", one_line(reviewed_at)));
    lines
}

/// A text of a reviewer on one line, without control characters, that cannot be read as a field.
fn one_line(foreign: &str) -> String {
    let words = foreign.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = text::visible_line(&words).into_owned();
    let shown = text::cut_noted(&shown, MAX_ISSUE_BYTES).replace(['\n', '\r'], " ");
    match super::line::field(&format!("- {shown}")).is_some() || shown.is_empty() {
        true => format!("\\{shown}"),
        false => shown,
    }
}
