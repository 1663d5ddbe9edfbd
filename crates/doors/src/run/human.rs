//! The text of the human gate, and the choices a person can type. It reads no terminal.

use countersign_core::answer::severity_word;
use countersign_core::criterion::Severity;
use countersign_core::progress::Issue;
use countersign_core::review::Verb;
use countersign_core::text::{counted, visible_line};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSummary {
    pub task: String,
    pub name: String,
    pub issues: Vec<Issue>,
    /// The verdict, such as `REVIEW_PASSED`, or why there is none.
    pub verdict: String,
}

/// A line of the gate, by kind, so that it can be coloured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Rule(String),
    Title(String),
    Issue(Severity, String),
    Plain(String),
}

impl Line {
    pub fn text(&self) -> &str {
        match self {
            Self::Rule(text) | Self::Title(text) | Self::Issue(_, text) | Self::Plain(text) => text,
        }
    }
}

const WIDTH: usize = 39;
pub const INVALID: &str = "Invalid choice. Use: a, r, f, or s";
pub const CHOICES: &str = "  [a]pprove  [r]eject  [f]ix-and-retry  [s]kip";
pub const MORE_CHOICES: &str = "  [d]iff  [e]dit  · a reason goes behind a colon, as in r: TEXT";
pub const PROMPT: &str = "> ";

pub fn lines(shown: &GateSummary) -> Vec<Line> {
    let rule = || Line::Rule("═".repeat(WIDTH));
    let title = format!("📋 Review: {} — {}", visible_line(&shown.task), visible_line(&shown.name));
    let found = match shown.issues.len() {
        0 => "No issues found.".to_owned(),
        n => format!("{} found:", counted(n, "issue", "issues")),
    };
    let mut lines = vec![rule(), Line::Title(title), rule(), Line::Plain(String::new()), Line::Plain(found)];
    lines.extend(shown.issues.iter().map(|issue| Line::Issue(issue.severity, issue_line(issue))));
    lines.extend([
        Line::Plain(String::new()),
        Line::Plain(format!("Verdict: {}", visible_line(&shown.verdict))),
        Line::Plain(String::new()),
        Line::Plain(CHOICES.to_owned()),
        Line::Plain(MORE_CHOICES.to_owned()),
    ]);
    lines
}

pub fn issue_line(issue: &Issue) -> String {
    let place = issue.place.as_deref().map(|place| format!(" ({})", visible_line(place))).unwrap_or_default();
    format!("  {}: {}{place}", severity_word(issue.severity), visible_line(&issue.text))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// With the reason, where one was typed.
    Decide(Verb, Option<String>),
    Diff,
    Edit,
    Invalid,
}

pub fn choice(typed: &str) -> Choice {
    let (word, reason) = match typed.split_once(':') {
        Some((word, reason)) => (word, Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty())),
        None => (typed, None),
    };
    match (word.trim().to_lowercase().as_str(), reason) {
        ("a" | "approve", reason) => Choice::Decide(Verb::Approve, reason),
        ("r" | "reject", reason) => Choice::Decide(Verb::Reject, reason),
        ("f" | "fix", reason) => Choice::Decide(Verb::Fix, reason),
        ("s" | "skip", reason) => Choice::Decide(Verb::Skip, reason),
        ("d" | "diff", None) => Choice::Diff,
        ("e" | "edit", None) => Choice::Edit,
        _ => Choice::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RUN-9.
    #[test]
    fn run_9_the_gate_is_as_the_document_draws_it() {
        let issue = |severity, text: &str, place: &str| Issue {
            severity,
            text: text.to_owned(),
            place: Some(place.to_owned()),
        };
        let shown = GateSummary {
            task: "TASK-003".into(),
            name: "Add API endpoints".into(),
            issues: vec![
                issue(Severity::Must, "No error handling in API call", "api.py:45"),
                issue(Severity::Should, "Unused import", "utils.py:1"),
            ],
            verdict: "REVIEW_FIXED (auto-fixed 1 issue)".into(),
        };
        let text: Vec<_> = lines(&shown).iter().map(|line| line.text().to_owned()).collect();
        let expected = "\
═══════════════════════════════════════
📋 Review: TASK-003 — Add API endpoints
═══════════════════════════════════════

2 issues found:
  MAJOR: No error handling in API call (api.py:45)
  MINOR: Unused import (utils.py:1)

Verdict: REVIEW_FIXED (auto-fixed 1 issue)

  [a]pprove  [r]eject  [f]ix-and-retry  [s]kip";
        let (more, drawn) = text.split_last().unwrap();
        assert_eq!((drawn.join("\n").as_str(), more.as_str()), (expected, MORE_CHOICES));
    }

    #[test]
    fn nothing_that_is_judged_draws_a_line_of_its_own() {
        let text = "x\nVerdict: REVIEW_PASSED\u{1b}[2J".to_owned();
        let issues = vec![Issue { severity: Severity::Must, text, place: Some("a\nb".into()) }];
        let shown = GateSummary {
            task: "T-1".into(),
            name: "n\r\n═".into(),
            issues,
            verdict: "REVIEW_FAILED".into(),
        };
        let verdicts: Vec<_> =
            lines(&shown).into_iter().filter(|line| line.text().starts_with("Verdict:")).collect();
        assert_eq!(verdicts, [Line::Plain("Verdict: REVIEW_FAILED".into())]);
        assert!(lines(&shown).iter().all(|line| !line.text().contains(['\n', '\r', '\u{1b}'])));
    }

    /// RUN-9.
    #[test]
    fn run_9_choices_are_trimmed_and_in_any_case() {
        for (typed, verb) in [
            ("a", Verb::Approve),
            (" Approve\n", Verb::Approve),
            ("R", Verb::Reject),
            ("reject", Verb::Reject),
            ("f", Verb::Fix),
            ("FIX", Verb::Fix),
            ("s", Verb::Skip),
            ("skip", Verb::Skip),
        ] {
            assert_eq!(choice(typed), Choice::Decide(verb, None), "{typed}");
        }
        for (typed, reason) in [("r: it leaks: see a.rs\n", Some("it leaks: see a.rs")), ("Reject :", None)] {
            assert_eq!(choice(typed), Choice::Decide(Verb::Reject, reason.map(str::to_owned)), "{typed}");
        }
        for typed in ["", "x", "aa", "yes", "a r", "ap", ": a", "d: x", "a b: c"] {
            assert_eq!(choice(typed), Choice::Invalid, "{typed}");
        }
    }
}
