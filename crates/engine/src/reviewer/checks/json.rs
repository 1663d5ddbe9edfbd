//! JSON, strictly: one value, no comments, no trailing commas, no key twice in an object.
//!
//! Parsers differ on which of two equal keys wins, so a file with both says two things at once. Numbers
//! beyond a 64-bit float and nesting beyond 128 levels are refused too.

use super::defect::Defect;
use super::quote::{quote, reason};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

pub(super) fn look(text: &str) -> Vec<Defect> {
    if text.starts_with('\u{feff}') {
        return vec![Defect::at(1, "is not valid JSON: it begins with a byte order mark".into())];
    }
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict) => Vec::new(),
        Err(error) => vec![defect(&error)],
    }
}

fn defect(error: &serde_json::Error) -> Defect {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = reason(said.strip_suffix(&place).unwrap_or(&said));
    Defect::at(error.line().max(1), format!("is not valid JSON: {said} (column {})", error.column()))
}

/// Any value without a key twice in the same object. Nothing of it is kept.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_str<E>(self, _: &str) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        while items.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the key {} is there twice", quote(&key))));
            }
            seen.insert(key);
            entries.next_value::<Strict>()?;
        }
        Ok(Strict)
    }
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
