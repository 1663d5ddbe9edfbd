//! Parses one line of `tasks.md`. Spans count from the beginning of the line.

use super::{Priority, Status};
use countersign_core::markdown::{self, entry, trimmed};
use std::ops::Range;

/// The longest word that may be meant as a priority.
const MAX_PRIORITY_CHARS: usize = 4;

/// Whether a text is an id: `[A-Z][A-Z0-9]*-\d+`.
pub(super) fn is_id(text: &str) -> bool {
    let Some((prefix, number)) = text.rsplit_once('-') else { return false };
    prefix.starts_with(|c: char| c.is_ascii_uppercase())
        && prefix.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) enum Heading {
    Task {
        id: Range<usize>,
        name: Range<usize>,
    },
    Milestone(Range<usize>),
    /// It has the id of a task and is no header of one.
    AlmostTask(Range<usize>),
    /// It ends the task above it.
    Other,
    /// It is part of the task above it.
    Deeper,
}

pub(super) fn heading(line: &str) -> Option<Heading> {
    let (level, text) = markdown::heading(line)?;
    let words = line.get(text.clone()).unwrap_or_default();
    let id_len = words.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(words.len());
    let id = text.start..text.start + id_len;
    if is_id(line.get(id.clone()).unwrap_or_default()) {
        let name = line.get(id.end..text.end).and_then(|rest| rest.strip_prefix(':'));
        let name = name.map(|name| trimmed(line, text.end - name.len()..text.end));
        return Some(match name {
            Some(name) if level == 3 && !name.is_empty() => Heading::Task { id, name },
            _ => Heading::AlmostTask(text),
        });
    }
    Some(match level {
        2 if words.starts_with("Milestone") => Heading::Milestone(text),
        1..=3 => Heading::Other,
        _ => Heading::Deeper,
    })
}

#[derive(Debug)]
pub(super) struct Meta {
    pub priority: Range<usize>,
    pub sign: Option<Range<usize>>,
    /// Empty where there is none.
    pub status: Range<usize>,
    pub estimate: Option<Range<usize>>,
}

impl Meta {
    pub fn is_certain(&self, line: &str) -> bool {
        let text = |span: &Range<usize>| line.get(span.clone()).unwrap_or_default();
        Priority::of(text(&self.priority)).is_some() && Status::of(text(&self.status)).is_some()
    }
}

/// A line that is a meta line or meant as one: `P… | …` or `… | TODO`.
pub(super) fn meta(line: &str) -> Option<Meta> {
    let start = entry(line).unwrap_or_default();
    let bar = start + line.get(start..)?.find('|')?;
    let left = trimmed(line, start..bar);
    let priority = left.start + signs(line.get(left.clone())?)..left.end;
    let word = line.get(priority.clone())?;
    if word.is_empty() || word.contains(|c: char| !c.is_alphanumeric()) {
        return None;
    }
    let right = trimmed(line, bar + 1..line.len());
    let sign_end = right.start + signs(line.get(right.clone())?);
    let sign = trimmed(line, right.start..sign_end);
    let rest = line.get(sign_end..)?;
    let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let status = sign_end..sign_end + len;
    let looks_like_priority = word.len() <= MAX_PRIORITY_CHARS
        && word.starts_with(['P', 'p'])
        && word.chars().skip(1).any(|c| c.is_ascii_digit());
    if !looks_like_priority && Status::of(line.get(status.clone())?).is_none() {
        return None;
    }
    let estimate = line.get(status.end..)?.find("Est:").map(|at| {
        let from = status.end + at + "Est:".len();
        let text = trimmed(line, from..line.len());
        let value = line.get(text.clone()).unwrap_or_default();
        let len = value.find(|c: char| c.is_whitespace() || matches!(c, '|' | ')' | ','));
        text.start..len.map_or(text.end, |len| text.start + len)
    });
    Some(Meta { priority, sign: (!sign.is_empty()).then_some(sign), status, estimate })
}

/// The bytes of signs, such as emoji, and white space at the beginning.
fn signs(text: &str) -> usize {
    let is_sign = |c: char| c.is_whitespace() || (!c.is_ascii() && !c.is_alphanumeric());
    text.find(|c| !is_sign(c)).unwrap_or(text.len())
}

/// Whether a text is an estimate: `2-3d`, `4h`, `0.5d`.
pub(super) fn is_estimate(text: &str) -> bool {
    let Some(number) = text.strip_suffix(['d', 'h']) else { return false };
    let value = |text: &str| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let good = match text.split_once('.') {
            Some((whole, part)) => digits(whole) && digits(part),
            None => digits(text),
        };
        good.then(|| text.parse::<f64>().ok()).flatten()
    };
    match number.split_once(['-', '–']) {
        Some((from, to)) => matches!((value(from), value(to)), (Some(from), Some(to)) if from <= to),
        None => value(number).is_some(),
    }
}

pub(super) fn item(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let start = entry(line)?;
    let rest = line.get(start..)?;
    let tick = start + 1..start + 2;
    if !(rest.starts_with("[ ]") || rest.starts_with("[x]") || rest.starts_with("[X]")) {
        return None;
    }
    Some((tick, trimmed(line, start + 3..line.len())))
}

/// A line of the form `**Label:** value`: label and value.
pub(super) fn field(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let start = entry(line).unwrap_or(line.len() - line.trim_start().len());
    let inner = start + line.get(start..)?.strip_prefix("**").map(|_| 2)?;
    let end = inner + line.get(inner..)?.find("**")?;
    let label = line.get(inner..end)?.trim_end().trim_end_matches(':');
    let after = line.get(end + 2..)?;
    let colon = if after.starts_with(':') { 1 } else { 0 };
    Some((inner..inner + label.len(), trimmed(line, end + 2 + colon..line.len())))
}

/// The entries of `[A-1], [A-2]`, `[A-1, A-2]` or `A-1, A-2`; `—` is an empty list. None where no word is an id.
pub(super) fn list(line: &str, value: Range<usize>) -> Option<Vec<Range<usize>>> {
    const NONE: [&str; 6] = ["", "—", "–", "-", "none", "n/a"];
    let text = line.get(value.clone()).unwrap_or_default();
    if NONE.contains(&text.to_lowercase().as_str()) {
        return Some(vec![]);
    }
    let mut found = Vec::new();
    let mut from = value.start;
    while let Some(open) = line.get(from..value.end).and_then(|rest| rest.find('[')).map(|at| from + at + 1) {
        let close =
            line.get(open..value.end).and_then(|rest| rest.find(']')).map_or(value.end, |at| open + at);
        found.extend(split(line, open..close, |c| c == ','));
        from = close;
    }
    if found.is_empty() {
        let words = split(line, value, |c| c.is_whitespace() || matches!(c, ',' | ';' | '.'));
        found = words.into_iter().filter(|span| line.get(span.clone()).is_some_and(is_id)).collect();
        return (!found.is_empty()).then_some(found);
    }
    found.retain(|span| !NONE.contains(&line.get(span.clone()).unwrap_or_default().to_lowercase().as_str()));
    Some(found)
}

fn split(line: &str, span: Range<usize>, is_end: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = span.start;
    for part in line.get(span).unwrap_or_default().split(is_end) {
        let one = trimmed(line, from..from + part.len());
        if !one.is_empty() {
            found.push(one);
        }
        // White space between entries may be longer than a byte.
        from += part.len();
        from += line.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_any_prefix() {
        for (text, is) in [
            ("TASK-001", true),
            ("KAP-2", true),
            ("A1B-17", true),
            ("task-1", false),
            ("1A-1", false),
            ("TASK-", false),
            ("-1", false),
            ("TASK1", false),
            ("A-B-1", false),
            ("TASK-1a", false),
            ("", false),
        ] {
            assert_eq!(is_id(text), is, "{text}");
        }
    }

    #[test]
    fn estimates_are_days_or_hours_or_a_range_of_them() {
        for good in ["1d", "2-3d", "4h", "0.5d", "0.5–1.5h", "10d"] {
            assert!(is_estimate(good), "{good}");
        }
        for bad in ["", "d", "1", "1w", "3-2d", "1.d", ".5d", "-1d", "1-d", "1e3d", "1d2", "infd", "TBD"] {
            assert!(!is_estimate(bad), "{bad}");
        }
    }

    #[test]
    fn meta_lines_are_told_from_text() {
        let parts = |line: &str| {
            let text = |span: Range<usize>| line[span].to_owned();
            meta(line).map(|meta| {
                let sign = meta.sign.map(text).unwrap_or_default();
                let estimate = meta.estimate.map(text).unwrap_or_default();
                [text(meta.priority), sign, text(meta.status), estimate]
            })
        };
        for (line, expect) in [
            ("🔴 P0 | ⬜ TODO   Est: 1d", Some(["P0", "⬜", "TODO", "1d"])),
            ("P1|done", Some(["P1", "", "done", ""])),
            ("- 🟠 P1 | 🔄 IN_PROGRESS | Est: 2-3d", Some(["P1", "🔄", "IN_PROGRESS", "2-3d"])),
            ("  * P2 | ⏸️ BLOCKED (Est: 4h)", Some(["P2", "⏸️", "BLOCKED", "4h"])),
            ("P0 | ⬜TODO", Some(["P0", "⬜", "TODO", ""])),
            ("P9 | TODO", Some(["P9", "", "TODO", ""])),
            ("High | TODO", Some(["High", "", "TODO", ""])),
            ("P0 | WAITING Est:", Some(["P0", "", "WAITING", ""])),
            ("P0 |", Some(["P0", "", "", ""])),
            ("P0 | ⬜", Some(["P0", "⬜", "", ""])),
            ("| P0 | TODO |", None),
            ("- [ ] P0 | TODO", None),
            ("either a | b", None),
            ("Pipes | are fine", None),
            ("Option A | TODO", None),
            ("**P0** | TODO", None),
        ] {
            assert_eq!(parts(line), expect.map(|parts| parts.map(str::to_owned)), "{line}");
        }
    }

    #[test]
    fn lists_are_read_in_every_form() {
        for (text, expect) in [
            ("[A-1], [A-2]", Some(vec!["A-1", "A-2"])),
            ("[A-1, A-2]", Some(vec!["A-1", "A-2"])),
            ("[A-1](#a-1), [A-2](x.md)", Some(vec!["A-1", "A-2"])),
            ("A-1, A-2.", Some(vec!["A-1", "A-2"])),
            ("[A-1", Some(vec!["A-1"])),
            ("[—]", Some(vec![])),
            ("—", Some(vec![])),
            ("None", Some(vec![])),
            ("", Some(vec![])),
            ("[nonsense]", Some(vec!["nonsense"])),
            ("all of the above", None),
        ] {
            let found = list(text, 0..text.len());
            let found = found.map(|spans| spans.into_iter().map(|span| &text[span]).collect::<Vec<_>>());
            assert_eq!(found, expect, "{text}");
        }
    }
}
