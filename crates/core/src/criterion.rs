//! Criteria: named questions, how much they weigh, and when two names are the same.

use crate::check::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much a criterion weighs. Ordered: `Must` is the heaviest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Severity {
    /// Advice.
    May,
    /// Blocks unless the policy relaxes it in later rounds.
    Should,
    /// Always blocks.
    Must,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::May => "may",
            Self::Should => "should",
            Self::Must => "must",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub name: String,
    pub question: String,
    /// How much a failure weighs. Not shown to the reviewer.
    pub severity: Severity,
    /// A deterministic check that answers instead of a reviewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

impl Criterion {
    /// A criterion that a reviewer answers and that must pass.
    pub fn must(name: impl Into<String>, question: impl Into<String>) -> Self {
        Self { name: name.into(), question: question.into(), severity: Severity::Must, check: None }
    }
}

/// The form in which criterion names compare: trimmed, lower case, without Markdown emphasis or a final colon.
pub fn fold_name(name: &str) -> String {
    let mut rest = name.trim();
    loop {
        let stripped = strip_emphasis(rest.strip_suffix(':').unwrap_or(rest)).trim();
        if stripped == rest {
            return rest.to_lowercase();
        }
        rest = stripped;
    }
}

fn strip_emphasis(text: &str) -> &str {
    for mark in ["**", "__", "*", "_", "`"] {
        let inner = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            return inner;
        }
    }
    text
}

/// The first two criteria whose names are the same to [`fold_name`], by position.
pub fn first_double(criteria: &[Criterion]) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::new();
    criteria
        .iter()
        .enumerate()
        .find_map(|(i, criterion)| seen.insert(fold_name(&criterion.name), i).map(|first| (first, i)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_decoration() {
        for decorated in [
            "Complete",
            " complete ",
            "**Complete**",
            "**Complete:**",
            "**Complete**:",
            "`COMPLETE`:",
            "__*Complete*__",
        ] {
            assert_eq!(fold_name(decorated), "complete", "{decorated}");
        }
        for other in ["Complete?", "Completed", "*", "", ":", "Com plete", "_"] {
            assert_ne!(fold_name(other), "complete", "{other}");
        }
    }

    #[test]
    fn doubles_are_found_by_folded_name() {
        let criteria = [Criterion::must("A", "?"), Criterion::must("B", "?"), Criterion::must("**a:**", "?")];
        assert_eq!(first_double(&criteria), Some((0, 2)));
        assert_eq!(first_double(&criteria[..2]), None);
    }
}
