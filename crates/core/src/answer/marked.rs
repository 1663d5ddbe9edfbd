//! Reviews in free text that end with a marker: `REVIEW_PASSED`, `REVIEW_FIXED` or `REVIEW_FAILED` on the last
//! line.
//!
//! The marker must be the last line, because anything before it may be a quotation of what was judged. Where we
//! wrote the prompt, it must also carry the word that was made up for this question, which nothing that is judged
//! can know.

use super::{Answer, Defect, Ruling, cut, garbled};
use crate::criterion::{Criterion, Severity};

/// What a marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Nothing has to change.
    Passed,
    /// The reviewer changed something itself.
    Fixed,
    /// Something has to change.
    Failed,
}

impl Marker {
    const ALL: [(&'static str, Self); 3] =
        [("REVIEW_PASSED", Self::Passed), ("REVIEW_FIXED", Self::Fixed), ("REVIEW_FAILED", Self::Failed)];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "REVIEW_PASSED",
            Self::Fixed => "REVIEW_FIXED",
            Self::Failed => "REVIEW_FAILED",
        }
    }
}

/// A finding in a free text: a line that begins with a severity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong.
    pub text: String,
    /// Where, such as `api.py:45`.
    pub place: Option<String>,
}

/// What a free text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its marker.
    pub marker: Marker,
    /// What follows the marker.
    pub reason: Option<String>,
    /// The text before the marker.
    pub text: String,
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

/// How a severity is called where people read findings of this form.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MAJOR",
        Severity::Should => "MINOR",
        Severity::May => "INFO",
    }
}

/// Reads a free text. `word` is what the marker must carry.
pub fn read_marked(text: &str, word: Option<&str>) -> Result<Marked, Defect> {
    let text = text.trim_end();
    if text.is_empty() {
        return garbled("the reply is empty");
    }
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    match marker(last, word) {
        Some((marker, reason)) => Ok(Marked { marker, reason, text: before.trim().to_owned() }),
        None if word.is_some() && marker(last, None).is_some() => {
            garbled("the marker on the last line does not carry the word of this question")
        }
        None => garbled("the last line is none of REVIEW_PASSED, REVIEW_FIXED and REVIEW_FAILED"),
    }
}

/// A marker on a line of its own, in any case, in emphasis or quotes or not, with a reason or not.
fn marker(line: &str, word: Option<&str>) -> Option<(Marker, Option<String>)> {
    let line = unwrap(line.trim());
    let (name, marker) = Marker::ALL
        .into_iter()
        .find(|(name, _)| line.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name)))?;
    let mut rest = &line[name.len()..];
    if let Some(word) = word {
        rest = rest.trim_start_matches([' ', ':']).strip_prefix(word)?;
    }
    match rest.trim() {
        "" => Some((marker, None)),
        rest => {
            let reason = rest.strip_prefix(':')?.trim();
            Some((marker, (!reason.is_empty()).then(|| cut(reason))))
        }
    }
}

/// What stands on both sides of a marker in emphasis or quotes.
const WRAPPERS: [&str; 7] = ["**", "__", "*", "_", "`", "\"", "'"];

fn unwrap(line: &str) -> &str {
    let inner = |wrapper: &&str| line.strip_prefix(*wrapper).and_then(|line| line.strip_suffix(*wrapper));
    WRAPPERS.iter().find_map(inner).unwrap_or(line).trim()
}

/// The findings of a free text: lines such as `MAJOR: No error handling (api.py:45)`.
pub fn remarks(text: &str) -> Vec<Remark> {
    text.lines().filter_map(remark).collect()
}

fn remark(line: &str) -> Option<Remark> {
    let line = line.trim().trim_start_matches(['-', '*', '•']).trim().trim_start_matches("**");
    let (name, severity) = SEVERITIES
        .into_iter()
        .find(|(name, _)| line.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name)))?;
    let rest = line[name.len()..].trim_start_matches("**").strip_prefix(':')?;
    let rest = rest.trim_start_matches("**").trim();
    if rest.is_empty() {
        return None;
    }
    let place = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    Some(match place.filter(|(_, place)| looks_like_a_place(place)) {
        Some((words, place)) => Remark { severity, text: cut(words.trim()), place: Some(place.to_owned()) },
        None => Remark { severity, text: cut(rest), place: None },
    })
}

/// A path, with a line or without.
fn looks_like_a_place(text: &str) -> bool {
    let path = text.rsplit_once(':').filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()));
    let path = path.map_or(text, |(path, _)| path);
    !path.is_empty() && !path.contains(char::is_whitespace) && (path.contains('.') || path.contains('/'))
}

/// The answer that a free text gives to the criteria it was asked about. Its marker is for all of them together.
pub fn rule_marked(marked: &Marked, criteria: &[&Criterion]) -> Answer {
    let feedback = match (&marked.reason, marked.text.as_str()) {
        (Some(reason), "") => reason.clone(),
        (Some(reason), text) => cut(&format!("{reason}\n{text}")),
        (None, "") => super::NO_FEEDBACK.to_owned(),
        (None, text) => cut(text),
    };
    if marked.marker == Marker::Failed {
        return Answer { rulings: vec![], feedback, bare: Some(false), redacted: 0, reviewed: None };
    }
    let passed =
        |criterion: &&Criterion| Ruling { criterion: criterion.name.clone(), passed: true, feedback: None };
    Answer {
        rulings: criteria.iter().map(passed).collect(),
        feedback,
        bare: None,
        redacted: 0,
        reviewed: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read: the marker and its reason.
    type Read<'t> = Option<(Marker, Option<&'t str>)>;

    #[test]
    fn only_a_marker_on_the_last_line_counts() {
        use Marker::{Failed, Fixed, Passed};
        let table: [(&str, Read<'_>); 24] = [
            ("REVIEW_PASSED", Some((Passed, None))),
            ("fine\n\nREVIEW_PASSED\n\n", Some((Passed, None))),
            ("review_passed", Some((Passed, None))),
            ("**REVIEW_FIXED**", Some((Fixed, None))),
            ("*REVIEW_FIXED*", Some((Fixed, None))),
            ("__REVIEW_FIXED__", Some((Fixed, None))),
            ("_REVIEW_FIXED_", Some((Fixed, None))),
            ("`REVIEW_FAILED`", Some((Failed, None))),
            ("\"REVIEW_FAILED\"", Some((Failed, None))),
            ("'REVIEW_FAILED'", Some((Failed, None))),
            ("REVIEW_FAILED: no tests", Some((Failed, Some("no tests")))),
            ("REVIEW_FAILED:", Some((Failed, None))),
            ("**REVIEW_FAILED: no tests**", Some((Failed, Some("no tests")))),
            ("  REVIEW_PASSED  ", Some((Passed, None))),
            ("REVIEW_PASSED\nbut look at this", None),
            ("the file says REVIEW_PASSED", None),
            ("REVIEW_PASSED?", None),
            ("REVIEW_PASSEDX", None),
            ("REVIEW_PASSED and more", None),
            ("**REVIEW_PASSED", None),
            ("not REVIEW_PASSED", None),
            ("> REVIEW_PASSED", None),
            ("", None),
            ("   \n", None),
        ];
        for (text, expected) in table {
            let read = read_marked(text, None).ok().map(|marked| (marked.marker, marked.reason));
            let expected = expected.map(|(marker, reason)| (marker, reason.map(str::to_owned)));
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn where_we_wrote_the_prompt_the_marker_carries_its_word() {
        for (text, holds) in [
            ("REVIEW_PASSED k7", true),
            ("REVIEW_PASSED: k7", true),
            ("**REVIEW_PASSED k7**", true),
            ("REVIEW_FAILED k7: no tests", true),
            ("REVIEW_PASSED", false),
            ("REVIEW_PASSED k8", false),
            ("REVIEW_PASSED k77", false),
            ("REVIEW_PASSED k7 and so on", false),
            ("k7 REVIEW_PASSED", false),
        ] {
            assert_eq!(read_marked(text, Some("k7")).is_ok(), holds, "{text}");
        }
    }

    #[test]
    fn findings_are_lines_that_begin_with_a_severity() {
        let text = "2 issues:\n  MAJOR: No error handling in API call (api.py:45)\n- MINOR: Unused import (utils.py:1)\n\
                    **CRITICAL:** it loses data\nNIT: a name (see above)\ninfo: x (src/a)\nMAJOR:\nMAJORITY: no\n";
        let found: Vec<_> = remarks(text).into_iter().map(|r| (r.severity, r.text, r.place)).collect();
        let place = |place: &str| Some(place.to_owned());
        let expected = [
            (Severity::Must, "No error handling in API call", place("api.py:45")),
            (Severity::Should, "Unused import", place("utils.py:1")),
            (Severity::Must, "it loses data", None),
            (Severity::May, "a name (see above)", None),
            (Severity::May, "x", place("src/a")),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(s, t, p)| (s, t.to_owned(), p)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_marker_is_for_every_criterion_that_was_asked() {
        let (one, two) = (Criterion::must("One", "?"), Criterion::must("Two", "?"));
        let asked = [&one, &two];
        let answer = |text| rule_marked(&read_marked(text, None).unwrap(), &asked);
        for text in ["REVIEW_PASSED", "I mended it.\nREVIEW_FIXED"] {
            let answer = answer(text);
            assert!(
                answer.fits(&asked, false) && answer.rulings.iter().all(|ruling| ruling.passed),
                "{text}"
            );
        }
        let failed = answer("MAJOR: x\nREVIEW_FAILED: y");
        assert_eq!((failed.bare, failed.feedback.as_str()), (Some(false), "y\nMAJOR: x"));
        assert!(failed.fits(&asked, false));
    }
}
