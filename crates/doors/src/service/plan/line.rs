//! Parses one line of a plan. Spans count from the beginning of the line.

use countersign_core::markdown::{self, entry, trimmed};
use std::ops::Range;

pub(super) struct TaskLine {
    /// The byte between the brackets of its box.
    pub tick: Range<usize>,
    pub title: Range<usize>,
    /// The word between `` `[ `` and `` ]` ``.
    pub status: Option<Range<usize>>,
}

pub(super) enum Heading {
    /// `### Phase N: Title`.
    Phase { number: Range<usize> },
    /// It looks like one and is none, as `## Phase 1: Title`.
    AlmostPhase,
    /// It does not end a phase, but it looks as if it did.
    Other,
    /// It is part of a phase.
    Deeper,
}

pub(super) fn heading(line: &str) -> Option<Heading> {
    let (level, words) = markdown::heading(line)?;
    let words = line.get(words)?;
    let is_phase = words.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("phase"))
        && words.get(5..).is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    Some(match (level, is_phase) {
        (3, true) => phase(line).unwrap_or(Heading::AlmostPhase),
        (_, true) => Heading::AlmostPhase,
        (..=3, false) => Heading::Other,
        (_, false) => Heading::Deeper,
    })
}

fn phase(line: &str) -> Option<Heading> {
    let start = line.find(|c: char| c.is_ascii_digit())?;
    let rest = line.get(start..)?.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = start..line.len() - rest.len();
    let title = rest.trim_start().strip_prefix(':')?;
    (!title.trim().is_empty()).then_some(Heading::Phase { number })
}

/// `- [ ] **Title** `[status]``, not indented.
pub(super) fn task(line: &str) -> Option<TaskLine> {
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start_matches(' ');
    let rest = rest.strip_prefix('[')?;
    let tick = line.len() - rest.len();
    let sign = rest.chars().next()?;
    if !matches!(sign, ' ' | 'x' | 'X') {
        return None;
    }
    let rest = rest.get(1..)?.strip_prefix(']')?.trim_start_matches(' ').strip_prefix("**")?;
    let start = line.len() - rest.len();
    let length = rest.find("**")?;
    let title = trimmed(line, start..start + length);
    if title.is_empty() {
        return None;
    }
    let after = rest.get(length + 2..)?;
    Some(TaskLine { tick: tick..tick + 1, title, status: status(after, line.len() - after.len()) })
}

fn status(after: &str, at: usize) -> Option<Range<usize>> {
    let start = after.find("`[")? + 2;
    let length = after.get(start..)?.find("]`")?;
    Some(at + start..at + start + length)
}

/// A field below a task: `  - **Label:** value`, with or without list sign and emphasis.
pub(super) fn field(line: &str) -> Option<(&'static str, Range<usize>)> {
    let rest = entry(line).and_then(|at| line.get(at..)).unwrap_or(line).trim_start();
    let (label, value) = match rest.strip_prefix("**") {
        Some(bold) => {
            bold.split_once(':').and_then(|(label, value)| Some((label, value.strip_prefix("**")?)))?
        }
        None => rest.split_once(':')?,
    };
    let label = LABELS.into_iter().find(|known| known.eq_ignore_ascii_case(label.trim()))?;
    Some((label, trimmed(line, line.len() - value.len()..line.len())))
}

const LABELS: [&str; 10] = [
    "Spec",
    "Scope",
    "Acceptance",
    "Depends",
    "Session",
    "Review",
    "Attempt",
    "Last Result",
    "Issues",
    "Reviewed At",
];
