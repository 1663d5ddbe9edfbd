//! YAML: every document of the file, within the parser's budgets (depth, nodes, aliases).
//!
//! The values are thrown away: a syntax error is one whatever the file is about. A key twice in a mapping
//! is refused, as the language asks. An empty file is an empty stream and valid; `not_empty` is a check
//! of its own.

use super::defect::Defect;
use super::quote::reason;
use serde::de::IgnoredAny;

pub(super) fn look(text: &str) -> Vec<Defect> {
    // With comments the parser refuses a block of more than 32 comment lines before a list.
    let options = serde_saphyr::options! { with_snippet: false, emit_comments: false };
    match serde_saphyr::from_multiple_with_options::<IgnoredAny>(text, options) {
        Ok(_) => Vec::new(),
        Err(error) => vec![defect(&error)],
    }
}

fn defect(error: &serde_saphyr::Error) -> Defect {
    let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).filter(|&line| line > 0);
    let said = error.to_string();
    // The place is said once, as the line of the defect.
    let said = said.split(" at line ").next().unwrap_or(&said);
    Defect { line, message: format!("is not valid YAML: {}", reason(said)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_documents_pass_or_none() {
        for text in [
            "",
            "# only a comment\n",
            "a: 1\nb: [x, 2]\n",
            "a: 1\n---\n- b\n---\n",
            "null\n---\n~\n",
            "a: &x {b: 1}\nc: *x\n",
            "v: !Ref name\nw: !GetAtt a.b\n",
            "1: a\ntrue: b\n",
            "\u{feff}a: 1\n",
            "text: |\n  a: b: c\n",
        ] {
            assert_eq!(look(text), [], "{text:?}");
        }
    }

    #[test]
    fn long_comments_pass() {
        let comment = "  # a line\n".repeat(500);
        for text in [
            format!("{comment}a: 1\n"),
            format!("a:\n{comment}  - b\n{comment}  - c\n"),
            format!("a:\n  -\n{comment}    b: 1\n"),
            format!("a:\n{comment}  b: 1\n{comment}c:\n{comment}"),
            format!("a: [\n{comment} 1,\n{comment}]\n"),
            format!("? a\n{comment}: b\n"),
            format!("- a\n{comment}- b\n"),
            format!("a: {{\n{comment} b: 1,\n{comment}}}\n"),
            format!("a:\n- b\n{comment}c: 1\n"),
        ] {
            assert_eq!(look(&text), [], "{}", text.replace(&comment, "#…"));
        }
    }

    #[test]
    fn errors_have_a_line() {
        for (text, line) in [
            ("a: 1\nb: [1, 2\n", 2),
            ("a: b: c\n", 1),
            ("a:\n\tb: 2\n", 2),
            ("ok: 1\n---\na: 'x\n", 4),
            ("a: 1\na: 2\n", 2),
            ("a: *nobody\n", 1),
            ("{a: 1}}\n", 1),
        ] {
            let defects = look(text);
            assert_eq!(defects.len(), 1, "{text:?}");
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
        }
    }

    #[test]
    fn bombs_are_refused() {
        let laughs = (1..12).fold("a0: &a0 x\n".to_owned(), |text, i| {
            text + &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(","))
        });
        for text in [
            laughs,
            "[".repeat(100_000),
            "- ".repeat(100_000),
            "{a: ".repeat(100_000),
            "--- a\n".repeat(5_000),
        ] {
            assert_eq!(look(&text).len(), 1);
        }
    }
}
