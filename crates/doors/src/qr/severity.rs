//! Severities as state files spell them: three words and their synonyms, in any case.

use super::ordered::{Json, Text};
use countersign_core::criterion::Severity;
use countersign_engine::yaml::quoted;
use serde::de::MapAccess;

pub(super) const DEFAULT: Severity = Severity::Should;

fn named(word: &str) -> Option<Severity> {
    match word.trim().to_ascii_uppercase().as_str() {
        "MUST" | "BLOCKER" | "CRITICAL" => Some(Severity::Must),
        "SHOULD" => Some(Severity::Should),
        "MAY" | "COULD" => Some(Severity::May),
        _ => None,
    }
}

pub(super) fn parse(word: &str) -> Result<Severity, String> {
    named(word).ok_or_else(|| format!("unknown severity {}: use MUST, SHOULD or MAY", quoted(word)))
}

pub fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
        Severity::May => "MAY",
    }
}

/// The severity as it is written in place of `found`: the same word as long as that means the same severity.
pub(super) fn written(found: &Json, severity: Severity) -> Json {
    match found {
        Json::Text(word) if named(word) == Some(severity) => found.clone(),
        Json::Null if severity == DEFAULT => Json::Null,
        _ => Json::Text(word(severity).to_owned()),
    }
}

/// Reads a severity, and the value it stands for.
pub(super) fn found<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<(Json, Severity), A::Error> {
    let read = |word: Option<&str>| {
        let Some(word) = word else { return Some(Ok((Json::Null, DEFAULT))) };
        Some(parse(word).map(|severity| (Json::Text(word.to_owned()), severity)))
    };
    entries.next_value_seed(Text { expected: "a severity: MUST, SHOULD or MAY", read })
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
