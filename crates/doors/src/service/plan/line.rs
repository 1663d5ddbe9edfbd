//! What one line of a plan is. Spans are bytes of the line.

use std::ops::Range;

/// A task's own line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TaskLine {
    /// The one byte between the brackets of its box.
    pub tick: Range<usize>,
    pub title: Range<usize>,
    /// The word between `` `[ `` and `` ]` ``.
    pub status: Option<Range<usize>>,
}

/// What a heading begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// `### Phase N: Title`.
    Phase { number: Range<usize>, title: Range<usize> },
    /// Names a phase in another form.
    AlmostPhase,
    /// Ends a phase: it is as high as one.
    Other,
    /// Stands within a phase.
    Deeper,
}

pub(super) fn heading(line: &str) -> Option<Heading> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let words = rest.trim();
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
    let from = |start: usize| line.get(start..).unwrap_or_default();
    let mut at = line.find(|c: char| c.is_ascii_alphabetic())? + "phase".len();
    at += from(at).len() - from(at).trim_start().len();
    let digits = from(at).bytes().take_while(u8::is_ascii_digit).count();
    let number = at..at + digits;
    at = number.end;
    at += from(at).len() - from(at).trim_start().len();
    let rest = from(at).strip_prefix(':')?;
    let start = line.len() - rest.trim_start().len();
    let title = start..start + rest.trim().len();
    (!title.is_empty()).then_some(Heading::Phase { number, title })
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
    let title = rest.get(..length)?;
    let lead = title.len() - title.trim_start().len();
    let span = start + lead..start + lead + title.trim().len();
    if span.is_empty() {
        return None;
    }
    let after = rest.get(length + 2..)?;
    Some(TaskLine { tick: tick..tick + 1, title: span, status: status(after, line.len() - after.len()) })
}

fn status(after: &str, at: usize) -> Option<Range<usize>> {
    let start = after.find("`[")? + 2;
    let length = after.get(start..)?.find("]`")?;
    Some(at + start..at + start + length)
}

/// A line below a task that names something: `  - **Label:** value`, with or without list sign and emphasis.
pub(super) fn field(line: &str) -> Option<(&'static str, Range<usize>)> {
    let rest = line.trim_start();
    let rest =
        rest.strip_prefix(['-', '*']).filter(|rest| rest.starts_with(' ')).unwrap_or(rest).trim_start();
    let (rest, bold) = match rest.strip_prefix("**") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (label, value) = rest.split_once(':')?;
    let value = if bold { value.strip_prefix("**")? } else { value };
    let label = LABELS.into_iter().find(|known| known.eq_ignore_ascii_case(label.trim()))?;
    let start = line.len() - value.trim_start().len();
    Some((label, start..start + value.trim().len()))
}

/// The labels of fields.
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

/// How far a line is indented; a tab counts as four.
pub(super) fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blank.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// A line that opens or closes a code fence: its sign, how many, and whether nothing else is on it.
pub(super) fn fence(line: &str) -> Option<(char, usize, bool)> {
    let rest = line.trim_start_matches(' ');
    let sign = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = rest.chars().take_while(|c| *c == sign).count();
    let info = rest.get(count..).unwrap_or_default();
    (count >= 3 && !(sign == '`' && info.contains('`'))).then(|| (sign, count, info.trim().is_empty()))
}
