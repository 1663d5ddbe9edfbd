//! Findings in a free text: lines that name a severity, such as `MAJOR: No error handling (api.py:45)`, in lists, tables,
//! headings, emphasis or brackets. Reading is generous: a finding that is not recognised is lost.

use super::cut;
use crate::criterion::Severity;

/// A finding in a free text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub severity: Severity,
    pub text: String,
    /// Where, such as `api.py:45`.
    pub place: Option<String>,
}

/// The words that severities have in free texts.
const SEVERITIES: [(&str, Severity); 6] = [
    ("CRITICAL", Severity::Must),
    ("BLOCKER", Severity::Must),
    ("MAJOR", Severity::Must),
    ("MINOR", Severity::Should),
    ("INFO", Severity::May),
    ("NIT", Severity::May),
];
/// What may stand between a severity and what is wrong, as in `Major issue: …`.
const NOUNS: [&str; 6] = ["issues", "issue", "findings", "finding", "problems", "problem"];
/// What a line may begin with before its severity.
const LABELS: [&str; 1] = ["severity"];
/// What closes emphasis, quotes or brackets around a severity.
const CLOSERS: [char; 7] = ['*', '_', '`', '"', '\'', ']', ')'];
/// What stands where a reviewer lists a severity of which it found nothing.
const NOTHING: [&str; 8] = ["none", "none found", "no", "no issues", "nothing", "n/a", "0", "-"];

/// How a severity is called where people read findings of this form.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MAJOR",
        Severity::Should => "MINOR",
        Severity::May => "INFO",
    }
}

/// The findings of a free text, in order.
pub fn remarks(text: &str) -> Vec<Remark> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut remarks = vec![];
    for (at, line) in lines.iter().enumerate() {
        let Some(named) = named(line) else { continue };
        // A severity alone is the heading of what follows it.
        let below = lines[at + 1..].iter().map(|line| without_decoration(line)).find(|line| !line.is_empty());
        let below = below.filter(|line| self::named(line).is_none());
        let said = if named.said.is_empty() { below.unwrap_or_default() } else { named.said };
        if !said.is_empty() && !says_none(said) {
            remarks.push(remark(named.severity, said, named.place));
        }
    }
    remarks
}

/// The first line that says that something has to change, where there is one.
pub fn objection(text: &str) -> Option<&str> {
    let objects = |line: &&str| match named(line) {
        Some(named) => named.severity != Severity::May && !says_none(named.said),
        None => begins_with_blocking_severity(line),
    };
    // A severity alone objects only if something follows it.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let blocking = |remark: &Remark| remark.severity != Severity::May;
    let mut found = lines.iter().enumerate().filter(|(_, line)| objects(line));
    found.find_map(|(at, line)| {
        let is_heading = named(line).is_some_and(|named| named.said.is_empty());
        let with_next = || remarks(&lines[at..].join("\n")).first().is_some_and(blocking);
        (!is_heading || with_next()).then(|| line.trim())
    })
}

/// A severity that a line names, and what the line says with it.
struct SeverityLine<'t> {
    severity: Severity,
    said: &'t str,
    place: Option<&'t str>,
}

fn named(line: &str) -> Option<SeverityLine<'_>> {
    leading_severity(without_decoration(line)).or_else(|| inner_severity(line))
}

/// `MAJOR: …`, `[Major] …`, `**MAJOR** …`, `MAJOR (api.py:45): …`, `MAJOR | …`, `Major issue – …`.
fn leading_severity(line: &str) -> Option<SeverityLine<'_>> {
    let (severity, rest) = SEVERITIES.into_iter().find_map(|(name, severity)| {
        let rest = strip_prefix_ignoring_case(line, name)?;
        (!rest.trim_start_matches('_').starts_with(char::is_alphanumeric)).then_some((severity, rest))
    })?;
    if let Some((place, said)) = leading_location(rest) {
        return Some(SeverityLine { severity, said, place: Some(place) });
    }
    let after =
        NOUNS.iter().find_map(|noun| strip_prefix_ignoring_case(rest.trim_start(), noun)).unwrap_or(rest);
    let closed = after.trim_start_matches(|c: char| c == ' ' || CLOSERS.contains(&c));
    let was_closed = after[..after.len() - closed.len()].contains(CLOSERS);
    match after_separator(closed) {
        Some(said) => Some(SeverityLine { severity, said: without_emphasis(said), place: None }),
        // Alone on its line it is a heading.
        None if was_closed || closed.is_empty() => {
            Some(SeverityLine { severity, said: without_emphasis(closed), place: None })
        }
        None => None,
    }
}

/// ` (api.py:45): what` as place and what.
fn leading_location(rest: &str) -> Option<(&str, &str)> {
    let (place, rest) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    let said = after_separator(rest.trim_start_matches(|c: char| c == ' ' || CLOSERS.contains(&c)))?;
    looks_like_location(place).then_some((place, without_emphasis(said)))
}

/// What stands behind the sign between a severity and what is wrong.
fn after_separator(text: &str) -> Option<&str> {
    const SIGNS: [&str; 7] = [":", "：", "- ", "–", "—", "|", "="];
    SIGNS.iter().find_map(|sign| text.strip_prefix(sign)).map(str::trim)
}

fn without_emphasis(text: &str) -> &str {
    text.trim().trim_start_matches(['*', '_']).trim()
}

/// In capitals within a line: `api.py:45: MAJOR: …`, `1 | MAJOR | …`, `… [MAJOR] …`.
fn inner_severity(line: &str) -> Option<SeverityLine<'_>> {
    let found = SEVERITIES.into_iter().find_map(|(name, severity)| {
        line.match_indices(name).find_map(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let stands_alone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let closed = after.trim_start_matches(['*', '_', '`']);
            let in_brackets = before.ends_with('[').then(|| after.strip_prefix(']')).flatten();
            let in_table =
                before.trim_end().ends_with('|').then(|| after.trim_start().strip_prefix('|')).flatten();
            let said = closed.strip_prefix(':').or(closed.strip_prefix('：')).or(in_brackets).or(in_table);
            said.filter(|_| stands_alone).map(|said| (severity, before, said))
        })
    });
    let (severity, before, said) = found?;
    let place = before.trim().trim_end_matches(':').trim_start_matches(|c: char| !c.is_alphanumeric());
    let said = after_separator(said.trim_start()).unwrap_or(said.trim());
    Some(SeverityLine {
        severity,
        said: without_emphasis(said),
        place: Some(place).filter(|it| looks_like_location(it)),
    })
}

/// `MAJOR no error handling`: no form that is told apart from prose, so it counts against a pass and is no remark.
fn begins_with_blocking_severity(line: &str) -> bool {
    let line = without_decoration(line);
    let blocking = SEVERITIES.iter().filter(|(_, severity)| *severity != Severity::May);
    blocking.filter_map(|(name, _)| line.strip_prefix(name)).any(|rest| rest.starts_with(char::is_whitespace))
}

/// A line without what stands before its first word: signs of lists, tables, headings and emphasis, numbers, labels.
pub(super) fn without_decoration(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let before = line;
        line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        for ticked in ["x]", "X]"] {
            line = line.strip_prefix(ticked).filter(|_| before.contains('[')).unwrap_or(line);
        }
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() < line.len() && digits.starts_with(['.', ')', ':', '|', ']']) {
            line = digits;
        }
        for label in LABELS {
            let rest = strip_prefix_ignoring_case(line, label).map(|rest| rest.trim_start_matches(CLOSERS));
            line = rest.and_then(after_separator).unwrap_or(line);
        }
        if line == before {
            return line;
        }
    }
}

pub(super) fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let begins = text.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix));
    begins.then(|| &text[prefix.len()..])
}

fn says_none(said: &str) -> bool {
    let said = said
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | '_' | '`' | '|' | '(' | ')'));
    NOTHING.iter().any(|nothing| nothing.eq_ignore_ascii_case(said))
}

fn remark(severity: Severity, said: &str, place: Option<&str>) -> Remark {
    let behind = said.strip_suffix(')').and_then(|said| said.rsplit_once(" ("));
    let behind = behind.filter(|(_, path)| place.is_none() && looks_like_location(path));
    let (said, place) = behind.map_or((said, place), |(said, path)| (said.trim(), Some(path)));
    Remark { severity, text: cut(said), place: place.map(str::to_owned) }
}

/// A path, with a line or without.
fn looks_like_location(text: &str) -> bool {
    let path = text.rsplit_once(':').filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()));
    let path = path.map_or(text, |(path, _)| path);
    !path.is_empty() && !path.contains(char::is_whitespace) && (path.contains('.') || path.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Severity, String, Option<String>)> {
        remarks(text).into_iter().map(|remark| (remark.severity, remark.text, remark.place)).collect()
    }

    #[test]
    fn findings_are_lines_that_begin_with_a_severity() {
        let text = "2 issues:\n  MAJOR: No error handling in API call (api.py:45)\n- MINOR: Unused import (utils.py:1)\n\
                    **CRITICAL:** it loses data\nNIT: a name (see above)\ninfo: x (src/a)\nMAJORITY: no\nMAJOR:\n";
        let place = |place: &str| Some(place.to_owned());
        let expected = [
            (Severity::Must, "No error handling in API call", place("api.py:45")),
            (Severity::Should, "Unused import", place("utils.py:1")),
            (Severity::Must, "it loses data", None),
            (Severity::May, "a name (see above)", None),
            (Severity::May, "x", place("src/a")),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(s, t, p)| (s, t.to_owned(), p)).collect();
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_finding_is_found_in_whatever_form_it_is_written() {
        for line in [
            "MAJOR: it breaks",
            "Major: it breaks",
            "major : it breaks",
            "MAJOR：it breaks",
            "MAJOR - it breaks",
            "MAJOR — it breaks",
            "1. MAJOR: it breaks",
            "2) **Major** - it breaks",
            "- [ ] MAJOR: it breaks",
            "- [x] MAJOR: it breaks",
            "### MAJOR: it breaks",
            "> MAJOR: it breaks",
            "🔴 MAJOR: it breaks",
            "[MAJOR] it breaks",
            "(major) it breaks",
            "`MAJOR` it breaks",
            "__MAJOR__: it breaks",
            "*MAJOR*: it breaks",
            "**MAJOR: it breaks",
            "| MAJOR | it breaks",
            "| 1 | MAJOR | it breaks",
            "Severity: MAJOR - it breaks",
            "**Severity:** MAJOR: it breaks",
            "MAJOR issue: it breaks",
            "Major finding – it breaks",
            "MAJOR:\n- it breaks",
            "## Major issues:\n\n1. it breaks",
            "Finding 1: MAJOR: it breaks",
            "In the handler [MAJOR] it breaks",
        ] {
            let remarks = found(line);
            assert_eq!(remarks, [(Severity::Must, "it breaks".to_owned(), None)], "{line}");
            assert!(objection(line).is_some(), "{line}");
        }
        for line in
            ["MAJOR (api.py:45): it breaks", "api.py:45: MAJOR: it breaks", "- `api.py:45: MAJOR: it breaks"]
        {
            assert_eq!(
                found(line),
                [(Severity::Must, "it breaks".to_owned(), Some("api.py:45".to_owned()))],
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_no_finding_counts_against_nothing() {
        for line in [
            "MAJORITY: no",
            "Major-version bumps are fine",
            "Minor refactorings, all of them good.",
            "No major issues were found.",
            "MAJOR: none",
            "**MINOR:** None.",
            "MAJOR: 0",
            "Major issues: none found",
            "MAJOR:\nMINOR:",
            "MAJOR:",
            "CRITICAL_SECTION is entered once",
        ] {
            assert_eq!(found(line), [], "{line}");
            assert_eq!(objection(line), None, "{line}");
        }
        assert_eq!(objection("INFO: a name\nNIT: another"), None);
        assert_eq!(objection("fine\n  BLOCKER it loses data"), Some("BLOCKER it loses data"));
    }
}
