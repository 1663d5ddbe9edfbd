//! The checks together: what holds for all of them, whatever they are given.

use super::*;
use proptest::prelude::*;

fn every_check() -> Vec<Check> {
    vec![
        Check::NoConflictMarkers,
        Check::NoPlaceholders,
        Check::NotEmpty,
        Check::ValidJson,
        Check::ValidYaml,
        Check::ValidToml,
        Check::RequiredHeadings(vec!["Summary".into(), "## Limits".into()]),
        Check::RequiredPattern("^x+$".into()),
        Check::ForbiddenPattern("(?s)a.*b|^$".into()),
        Check::LinksResolve,
        Check::Run(run("true", 1)),
    ]
}

fn run(command: &str, timeout_seconds: u64) -> RunCheck {
    RunCheck { command: command.into(), exit_code: 0, timeout_seconds }
}

fn look_at(check: &Check, text: Option<&str>, size_bytes: u64) -> Vec<Defect> {
    look(check, &Subject { path: "docs/a.md", text, size_bytes }, &|_| false)
}

fn said(check: &Check, text: Option<&str>, size_bytes: u64) -> String {
    feedback("docs/a.md", &look_at(check, text, size_bytes))
}

#[test]
fn what_is_not_text_fails_every_check_of_text() {
    for check in every_check() {
        let passes = look_at(&check, None, 7).is_empty();
        assert_eq!(passes, check == Check::NotEmpty, "{check:?}");
    }
    assert_eq!(said(&Check::ValidJson, None, 7), "docs/a.md: is not text, so it cannot be checked");
}

#[test]
fn empty_files() {
    for (text, size_bytes, empty) in [
        (Some(""), 0, true),
        (Some(" \r\n\t\u{a0}"), 5, true),
        (Some("\u{feff}\u{200b}"), 6, true),
        (Some("a"), 1, false),
        (None, 0, true),
        (None, 1, false),
    ] {
        let expected = if empty { "docs/a.md: is empty" } else { "" };
        assert_eq!(said(&Check::NotEmpty, text, size_bytes), expected, "{text:?}");
    }
}

#[test]
fn a_check_that_makes_no_sense_never_passes() {
    for check in [
        Check::RequiredPattern("(".into()),
        Check::ForbiddenPattern("(".into()),
        Check::RequiredPattern(String::new()),
        Check::RequiredHeadings(vec![]),
        Check::Run(run(" ", 1)),
        Check::Run(run("true", 0)),
    ] {
        let problem = problem(&check).unwrap_or_default();
        assert_eq!(said(&check, Some("x"), 1), format!("docs/a.md: the check cannot run: {problem}"),);
    }
    for check in every_check() {
        assert_eq!(problem(&check), None, "{check:?}");
    }
}

#[test]
fn a_command_never_passes_here() {
    assert_eq!(look_at(&Check::Run(run("true", 1)), Some("x"), 1).len(), 1);
}

#[test]
fn a_text_beyond_the_limit_never_passes() {
    let text = "[0]\n".repeat(MAX_TEXT_BYTES / 4 + 1);
    for check in every_check() {
        let passes = look_at(&check, Some(&text), text.len() as u64).is_empty();
        assert_eq!(passes, check == Check::NotEmpty, "{check:?}");
    }
}

/// Each of these has driven some parser into deep recursion or a quadratic walk. A stack that overflows
/// ends the process, so it is enough that the test comes back.
#[test]
fn repetition_is_harmless() {
    for piece in [
        "[",
        "](",
        "[a](",
        "![",
        "<",
        "<!--",
        "`",
        "*a ",
        "_a __b ",
        ">",
        "- ",
        "1. ",
        "[a]: b\n",
        "[^1]: ",
        "a\n=\n",
        "&",
        "{\"a\":",
        "{a: ",
        "{a=",
        "a.",
        "[[a]]\n",
        "a:\n ",
        "? ",
        "&a ",
        "*a ",
        "!a ",
        "--- a\n",
        "<<<<<<< a\n",
        "TODO\n",
        "[insert ",
        "is to be ",
        "\u{feff}",
        "\n",
    ] {
        let text = piece.repeat(10_000);
        for check in every_check() {
            assert!(look_at(&check, Some(&text), 1).len() <= MAX_DEFECTS + 1, "{piece:?}: {check:?}");
        }
    }
}

/// Pieces that mean something to one of the checks, so that random texts get beyond the first parser rule.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\n",
            "\r\n",
            "\r",
            " ",
            "\t",
            "[",
            "](",
            ")",
            "[a](b)",
            "![",
            "[r]: ",
            "[^1]",
            ": ",
            "<",
            ">",
            "`",
            "```\n",
            "~~~",
            "# ",
            "===\n",
            "---\n",
            "- ",
            "> ",
            "* ",
            "|",
            "{",
            "}",
            "\"",
            "'",
            ",",
            "\\",
            "%",
            "%2e",
            "&a ",
            "*a ",
            "<<<<<<< ",
            "=======\n",
            ">>>>>>> ",
            "TODO",
            "to be written",
            "[insert ",
            "<your ",
            "\u{feff}",
            "\u{202e}",
            "\u{0}",
            "é",
            "𝄞",
            "[[x]]\n",
            "a = 1\n",
            "a: b\n",
            "&amp;",
            "<!--",
            "-->",
            "<a>",
            "!tag ",
            "%YAML 1.2\n",
            "1e9",
            "\\u00",
            "&#0;",
        ])
        .prop_map(String::from),
        any::<char>().prop_map(String::from),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_panics_or_floods(text in hostile_text(), path in any::<String>(), exists in any::<bool>()) {
        for check in every_check() {
            let file = Subject { path: &path, text: Some(&text), size_bytes: text.len() as u64 };
            let defects = look(&check, &file, &|_| exists);
            prop_assert!(defects.len() <= MAX_DEFECTS + 1);
            let feedback = feedback(&path, &defects);
            prop_assert!(feedback.chars().count() < 3_000, "{feedback}");
            prop_assert!(!feedback.chars().any(countersign_core::text::hides), "{feedback:?}");
        }
    }

    #[test]
    fn no_check_panics(pattern in any::<String>(), headings in prop::collection::vec(any::<String>(), 0..4),
                       text in hostile_text()) {
        for check in [
            Check::RequiredPattern(pattern.clone()),
            Check::ForbiddenPattern(pattern),
            Check::RequiredHeadings(headings),
        ] {
            let defects = look_at(&check, Some(&text), 1);
            prop_assert!(problem(&check).is_none() || !defects.is_empty(), "a broken check passed: {check:?}");
        }
    }

    #[test]
    fn links_are_only_asked_for_inside_the_project(text in hostile_text(), path in any::<String>()) {
        look(&Check::LinksResolve, &Subject { path: &path, text: Some(&text), size_bytes: 1 }, &|asked| {
            assert!(!asked.starts_with('/') && asked.split('/').all(|part| !matches!(part, "" | "." | "..")), "{asked:?}");
            false
        });
    }
}
