//! TOML, of the version our own parser speaks. It refuses keys that are there twice and deep nesting.

use super::defect::Defect;
use super::lines::Lines;
use super::quote::reason;

pub(super) fn look(text: &str) -> Vec<Defect> {
    match toml::from_str::<toml::Table>(text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let line = error.span().map(|span| Lines::new(text).line_of(span.start));
            vec![Defect { line, message: format!("is not valid TOML: {}", reason(error.message())) }]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_files_pass() {
        for text in
            ["", "# c\n", "a = 1\n[b]\nc.d = [1, 'x']\n[[e]]\n[[e]]\n", "d = 2026-01-02\r\n", "big = 0xff"]
        {
            assert_eq!(look(text), [], "{text:?}");
        }
    }

    #[test]
    fn errors_have_a_line() {
        for (text, line) in [
            ("a = \n", 1),
            ("a = 1\nb\n", 2),
            ("a = 1\na = 2\n", 2),
            ("[a]\nx = 1\n[a]\n", 3),
            ("a = 'x\n", 1),
            ("a = 2026-13-45\n", 1),
            ("a = 99999999999999999999\n", 1),
        ] {
            let defects = look(text);
            assert_eq!(defects.len(), 1, "{text:?}");
            assert_eq!(defects[0].line, Some(line), "{text:?}: {defects:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for text in [
            format!("a = {}", "[".repeat(100_000)),
            format!("{}a = 1", "a.".repeat(100_000)),
            format!("[{}a]", "a.".repeat(100_000)),
            format!("a = {}", "{a=".repeat(100_000)),
        ] {
            assert_eq!(look(&text).len(), 1);
        }
    }
}
