//! Rules: criteria, what they apply to, and guidance. The dialects call a rule a review.

use crate::criterion::Criterion;
use serde::{Deserialize, Serialize};

/// What a rule applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All outputs together (`run_each: step`).
    Whole,
    /// One named output: once for a `file`, once per file for `files`.
    Output(String),
    /// The submitted files that match one of the patterns.
    Files {
        /// Glob patterns relative to the project root.
        patterns: Vec<String>,
        /// How they are put into questions.
        each: Each,
    },
}

/// How files are put into questions. In the ledger, where there were two of them once, `true` and `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenEach", into = "WrittenEach")]
pub enum Each {
    /// One question per file.
    File,
    /// One question for all.
    Together,
    /// One question for all where they fit the reviewer, otherwise one per file.
    Fit,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenEach {
    File(bool),
    Other(OtherEach),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OtherEach {
    Fit,
}

impl From<WrittenEach> for Each {
    fn from(written: WrittenEach) -> Self {
        match written {
            WrittenEach::File(true) => Self::File,
            WrittenEach::File(false) => Self::Together,
            WrittenEach::Other(OtherEach::Fit) => Self::Fit,
        }
    }
}

impl From<Each> for WrittenEach {
    fn from(each: Each) -> Self {
        match each {
            Each::File => Self::File(true),
            Each::Together => Self::File(false),
            Each::Fit => Self::Other(OtherEach::Fit),
        }
    }
}

/// Criteria with their scope and guidance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// How people and reports call it.
    pub name: String,
    /// What it applies to.
    pub scope: Scope,
    /// What is asked; at least one where it comes from a file.
    pub criteria: Vec<Criterion>,
    /// Context for the reviewer, from whoever wrote the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
    /// Ask this reviewer rather than the first configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
}

impl Rule {
    /// What it looks at, in words for people.
    pub fn scope_words(&self) -> String {
        match &self.scope {
            Scope::Whole => "all outputs together".to_owned(),
            Scope::Output(name) => format!("output '{name}'"),
            Scope::Files { patterns, .. } => format!("rule '{}' for {}", self.name, patterns.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_keeps_what_it_always_kept() {
        for (each, text) in [(Each::File, "true"), (Each::Together, "false"), (Each::Fit, "\"fit\"")] {
            assert_eq!(serde_json::to_string(&each).unwrap(), text);
            assert_eq!(serde_json::from_str::<Each>(text).unwrap(), each);
        }
    }
}
