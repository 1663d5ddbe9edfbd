//! Severities as files spell them: three words, their other names, in any case.

use super::ordered::{Json, Text};
use countersign_core::criterion::Severity;
use countersign_engine::yaml::quoted;
use serde::de::{Deserialize, DeserializeSeed, Deserializer};

/// What an item weighs that does not say so.
pub const DEFAULT: Severity = Severity::Should;

/// The severity that is meant.
pub fn named(word: &str) -> Option<Severity> {
    match word.trim().to_ascii_uppercase().as_str() {
        "MUST" | "BLOCKER" | "CRITICAL" => Some(Severity::Must),
        "SHOULD" => Some(Severity::Should),
        "MAY" | "COULD" => Some(Severity::May),
        _ => None,
    }
}

/// The word the document uses.
pub fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
        Severity::May => "MAY",
    }
}

/// The severity as it is written where `found` stood: the same word as long as it still means the same.
pub(super) fn written(found: &Json, severity: Severity) -> Json {
    match found {
        Json::Text(word) if named(word) == Some(severity) => found.clone(),
        Json::Null if severity == DEFAULT => Json::Null,
        _ => Json::Text(word(severity).to_owned()),
    }
}

/// A severity with the word it was found as.
pub(super) struct Found(pub Json, pub Severity);

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |word: Option<&str>| match word {
            None => Some(Ok(Found(Json::Null, DEFAULT))),
            Some(word) => Some(match named(word) {
                Some(severity) => Ok(Found(Json::Text(word.to_owned()), severity)),
                None => Err(format!("{} is no severity: MUST, SHOULD or MAY", quoted(word))),
            }),
        };
        Text { expected: "a severity: MUST, SHOULD or MAY", read }.deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// QR-12.
    #[test]
    fn qr_12_severities_go_by_several_names_in_any_case() {
        let rows = [
            ("MUST", Some(Severity::Must)),
            ("must", Some(Severity::Must)),
            ("Blocker", Some(Severity::Must)),
            ("CRITICAL", Some(Severity::Must)),
            ("should", Some(Severity::Should)),
            ("MAY", Some(Severity::May)),
            ("Could", Some(Severity::May)),
            ("", None),
            ("HIGH", None),
            ("MUST NOT", None),
        ];
        for (word, severity) in rows {
            assert_eq!(named(word), severity, "{word}");
        }
    }
}
