//! Regular expressions that must, or must not, be found. `^` and `$` are at lines.

use super::defect::{Defect, DefectList};
use super::quote::{Lines, quote};
use regex::{Captures, Regex, RegexBuilder};

/// Memory of a compiled expression; it also bounds the time per byte of a hostile text.
const MAX_REGEX_BYTES: usize = 1024 * 1024;

/// Each search is linear, many of them are not: after this many lines we stop counting.
const MAX_MATCHING_LINES: usize = 100;

pub(super) fn look_required(pattern: &str, text: &str) -> Vec<Defect> {
    match compile(pattern) {
        Err(problem) => vec![Defect::of_file(problem)],
        Ok(regex) if regex.is_match(text) => Vec::new(),
        Ok(_) => vec![Defect::of_file(format!("nothing matches the required pattern {}", quote(pattern)))],
    }
}

pub(super) fn look_forbidden(pattern: &str, text: &str) -> Vec<Defect> {
    match compile(pattern) {
        Err(problem) => vec![Defect::of_file(problem)],
        Ok(regex) => matching_lines(&regex, text, |hit| {
            let matched = hit.get(0).map_or("", |all| all.as_str());
            format!("{} matches the forbidden pattern {}", quote(matched), quote(pattern))
        }),
    }
}

/// Why an expression is no use, with what it means for the check that it matches everything.
pub(super) fn problem(pattern: &str, consequence: &str) -> Option<String> {
    match compile(pattern) {
        Err(problem) => Some(problem),
        // It matches the empty text and beside a character that no text has, so it matches everywhere.
        Ok(regex) if regex.is_match("") && regex.is_match("\u{fffc}") => {
            Some(format!("the pattern {} matches every text, {consequence}", quote(pattern)))
        }
        Ok(_) => None,
    }
}

/// A defect for each line on which a match begins.
pub(super) fn matching_lines(
    regex: &Regex,
    text: &str,
    message: impl Fn(&Captures<'_>) -> String,
) -> Vec<Defect> {
    let mut found = DefectList::default();
    let mut lines = Lines::new(text);
    let mut from = 0;
    while let Some(hit) = regex.captures_at(text, from) {
        let all = hit.get(0).map_or(from..from, |all| all.range());
        if found.count() == MAX_MATCHING_LINES {
            found.cut_short();
            break;
        }
        found.add(Some(lines.line_of(all.start)), || message(&hit));
        from = all.end.max(next_line(text, all.start));
        if from >= text.len() {
            break;
        }
    }
    found.list()
}

/// Where the line after the one with this byte begins.
fn next_line(text: &str, offset: usize) -> usize {
    let rest = text.as_bytes().get(offset..).unwrap_or_default();
    rest.iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| offset + length + 1)
}

pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|error| format!("{} is not a usable regular expression: {}", quote(pattern), why(&error)))
}

/// The library draws the pattern over several lines; its last line says what is wrong.
fn why(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => format!("it needs more than {limit} bytes when compiled"),
        other => {
            let drawn = other.to_string();
            let last = drawn.lines().last().unwrap_or_default();
            super::quote::reason(last.strip_prefix("error: ").unwrap_or(last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_patterns() {
        for (pattern, text, passes) in [
            ("^Status: \\w+$", "x\nStatus: done\ny", true),
            ("^Status: \\w+$", "x\r\nStatus: done\r\ny", true),
            ("^Status: \\w+$", "x Status: done", false),
            ("(?i)status", "STATUS", true),
            ("a.b", "a\nb", false),
            ("(?s)a.b", "a\nb", true),
            ("x", "", false),
            ("(", "(", false),
        ] {
            assert_eq!(look_required(pattern, text).is_empty(), passes, "{pattern} on {text:?}");
        }
        assert_eq!(look_required("x+", "y")[0].message, "nothing matches the required pattern `x+`");
    }

    #[test]
    fn forbidden_patterns_name_each_line_once() {
        for (pattern, text, expected) in [
            ("bad", "", vec![]),
            ("bad", "ok\nbad bad\nok\nbad", vec![2, 4]),
            ("^bad$", "bad\r\nbad\r\n", vec![1, 2]),
            ("bad", "é bad\né\n\nbad\n", vec![1, 4]),
            ("(?s)a.*b", "a\n\nb b\na", vec![1]),
            // A match that ends inside a line leaves the rest of that line to the next one.
            ("(?s)a.b|c", "a\nb c\nc", vec![1, 2, 3]),
            ("^$", "x\n\ny\n\n", vec![2, 4]),
        ] {
            let lines: Vec<_> = look_forbidden(pattern, text).iter().filter_map(|d| d.line).collect();
            assert_eq!(lines, expected, "{pattern} on {text:?}");
        }
        let defects = look_forbidden("b.d", "\nbad");
        assert_eq!(defects, [Defect::at(2, "`bad` matches the forbidden pattern `b.d`".into())]);
    }

    #[test]
    fn counting_ends_somewhere() {
        let defects = look_forbidden("x", &"x\n".repeat(1000));
        assert_eq!(defects.last().map(|d| d.message.as_str()), Some("and at least 95 more"));
        let defects = look_forbidden("x", &"x\n".repeat(100));
        assert_eq!(defects.last().map(|d| d.message.as_str()), Some("and 95 more"));
    }

    #[test]
    fn useless_patterns_are_problems() {
        for (pattern, part) in [
            ("(", "unclosed group"),
            ("a{1000000}", "more than 1048576 bytes"),
            ("(?P<x>a)(?P<x>b)", "duplicate capture group name"),
            ("\\1", "backreferences are not supported"),
            ("", "matches every text, so"),
            ("x*", "matches every text, so"),
            ("^", "matches every text, so"),
        ] {
            let problem = problem(pattern, "so").unwrap_or_default();
            assert!(problem.contains(part), "{pattern}: {problem}");
        }
        for fine in ["x", "^$", "\\A\\z", ".", "\\w{20}", "^#{1,6} "] {
            assert_eq!(problem(fine, "so"), None, "{fine}");
        }
    }
}
