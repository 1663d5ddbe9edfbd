//! Whether a text is valid JSON, YAML or TOML. In all three a key twice in an object is refused.

use super::defect::Defect;
use super::quote::{Lines, reason};
use countersign_core::strict_json;
use serde::de::IgnoredAny;

/// One strict value: no comments, no trailing commas, numbers within a 64-bit float, at most 128 levels.
pub(super) fn json(text: &str) -> Vec<Defect> {
    if text.starts_with('\u{feff}') {
        return vec![Defect::at(1, "is not valid JSON: it begins with a byte order mark".into())];
    }
    let Err(error) = strict_json::parse(text) else { return vec![] };
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = reason(said.strip_suffix(&place).unwrap_or(&said));
    vec![Defect::at(error.line().max(1), format!("is not valid JSON: {said} (column {})", error.column()))]
}

/// Every document of the file, within the parser's budgets (depth, nodes, aliases). An empty file is valid.
pub(super) fn yaml(text: &str) -> Vec<Defect> {
    // With comments the parser refuses a block of more than 32 comment lines before a list.
    let options = serde_saphyr::options! { with_snippet: false, emit_comments: false };
    let parsed = serde_saphyr::from_multiple_with_options::<IgnoredAny>(text, options);
    let Err(error) = parsed else { return vec![] };
    let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).filter(|&line| line > 0);
    let said = error.to_string();
    // The place is said once, as the line of the defect.
    let said = said.split(" at line ").next().unwrap_or(&said);
    vec![Defect { line, message: format!("is not valid YAML: {}", reason(said)) }]
}

/// TOML of the version our own parser speaks.
pub(super) fn toml(text: &str) -> Vec<Defect> {
    let Err(error) = toml::from_str::<toml::Table>(text) else { return vec![] };
    let line = error.span().map(|span| Lines::new(text).line_of(span.start));
    vec![Defect { line, message: format!("is not valid TOML: {}", reason(error.message())) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_whole_strict_values_pass() {
        for text in [
            "{}",
            "[1, -2.5e3, true, null, \"é\\n\"]",
            " 1 \n",
            "{\"a\":{\"a\":1},\"b\":[{\"a\":2},{\"a\":3}]}",
        ] {
            assert_eq!(json(text), [], "{text}");
        }
    }

    #[test]
    fn json_everything_else_has_a_line() {
        for (text, line, part) in [
            ("", 1, "EOF"),
            ("{\n \"a\": 1,\n}", 3, "trailing comma"),
            ("{}\n{}", 2, "trailing characters"),
            ("// c\n{}", 1, "expected value"),
            ("{'a': 1}", 1, "key must be a string"),
            ("[NaN]", 1, "expected value"),
            ("{\"a\": 1,\n \"a\": 2}", 2, "the key `a` is there twice"),
            ("[\n{\"a\": 1, \"\\u0061\": 2}]", 2, "the key `a` is there twice"),
            ("\u{feff}{}", 1, "byte order mark"),
            ("\"\\ud800\"", 1, "hex escape"),
            ("1e999", 1, "out of range"),
        ] {
            let defects = json(text);
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
            assert!(defects[0].message.contains(part), "{text:?}: {defects:?}");
            assert!(!defects[0].message.contains("at line"), "{defects:?}");
        }
    }

    #[test]
    fn json_depth_is_bounded() {
        assert!(json(&"[".repeat(1_000_000))[0].message.contains("recursion limit"));
    }

    #[test]
    fn yaml_all_documents_pass_or_none() {
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
            assert_eq!(yaml(text), [], "{text:?}");
        }
    }

    #[test]
    fn yaml_long_comments_pass() {
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
            assert_eq!(yaml(&text), [], "{}", text.replace(&comment, "#…"));
        }
    }

    #[test]
    fn yaml_errors_have_a_line() {
        for (text, line) in [
            ("a: 1\nb: [1, 2\n", 2),
            ("a: b: c\n", 1),
            ("a:\n\tb: 2\n", 2),
            ("ok: 1\n---\na: 'x\n", 4),
            ("a: 1\na: 2\n", 2),
            ("a: *unknown\n", 1),
            ("{a: 1}}\n", 1),
        ] {
            let defects = yaml(text);
            assert_eq!(defects.len(), 1, "{text:?}");
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
        }
    }

    #[test]
    fn yaml_bombs_are_refused() {
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
            assert_eq!(yaml(&text).len(), 1);
        }
    }

    #[test]
    fn toml_valid_files_pass() {
        for text in
            ["", "# c\n", "a = 1\n[b]\nc.d = [1, 'x']\n[[e]]\n[[e]]\n", "d = 2026-01-02\r\n", "big = 0xff"]
        {
            assert_eq!(toml(text), [], "{text:?}");
        }
    }

    #[test]
    fn toml_errors_have_a_line() {
        for (text, line) in [
            ("a = \n", 1),
            ("a = 1\nb\n", 2),
            ("a = 1\na = 2\n", 2),
            ("[a]\nx = 1\n[a]\n", 3),
            ("a = 'x\n", 1),
            ("a = 2026-13-45\n", 1),
            ("a = 99999999999999999999\n", 1),
        ] {
            let defects = toml(text);
            assert_eq!(defects.len(), 1, "{text:?}");
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
        }
    }

    #[test]
    fn toml_depth_is_bounded() {
        for text in [
            format!("a = {}", "[".repeat(100_000)),
            format!("{}a = 1", "a.".repeat(100_000)),
            format!("[{}a]", "a.".repeat(100_000)),
            format!("a = {}", "{a=".repeat(100_000)),
        ] {
            assert_eq!(toml(&text).len(), 1);
        }
    }
}
