//! JSON, strictly: one value, no comments, no trailing commas, no key twice in an object.
//!
//! Parsers differ on which of two equal keys wins, so a file with both says two things at once. Numbers
//! beyond a 64-bit float and nesting beyond 128 levels are refused too.

use super::defect::Defect;
use super::quote::reason;
use countersign_core::strict_json;

pub(super) fn look(text: &str) -> Vec<Defect> {
    if text.starts_with('\u{feff}') {
        return vec![Defect::at(1, "is not valid JSON: it begins with a byte order mark".into())];
    }
    match strict_json::parse(text) {
        Ok(_) => Vec::new(),
        Err(error) => vec![defect(&error)],
    }
}

fn defect(error: &serde_json::Error) -> Defect {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = reason(said.strip_suffix(&place).unwrap_or(&said));
    Defect::at(error.line().max(1), format!("is not valid JSON: {said} (column {})", error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_strict_values_pass() {
        for text in [
            "{}",
            "[1, -2.5e3, true, null, \"é\\n\"]",
            " 1 \n",
            "{\"a\":{\"a\":1},\"b\":[{\"a\":2},{\"a\":3}]}",
        ] {
            assert_eq!(look(text), [], "{text}");
        }
    }

    #[test]
    fn everything_else_has_a_line() {
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
            let defects = look(text);
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
            assert!(defects[0].message.contains(part), "{text:?}: {defects:?}");
            assert!(!defects[0].message.contains("at line"), "{defects:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert!(look(&"[".repeat(1_000_000))[0].message.contains("recursion limit"));
    }
}
