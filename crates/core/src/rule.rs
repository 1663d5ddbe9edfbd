//! Rules: criteria, what they apply to, and guidance. The dialects call a rule a review.

use crate::criterion::Criterion;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
        each: Each,
    },
}

/// How files are put into questions. The ledger has `true`, `false` and `"fit"`: at first there were two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Each {
    /// One question per file.
    File,
    /// One question for all.
    Together,
    /// One question for all where they fit the reviewer, otherwise one per file.
    Fit,
}

impl From<Each> for Value {
    fn from(each: Each) -> Self {
        match each {
            Each::File => true.into(),
            Each::Together => false.into(),
            Each::Fit => "fit".into(),
        }
    }
}

impl TryFrom<Value> for Each {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let all = [Self::File, Self::Together, Self::Fit];
        all.into_iter().find(|each| Value::from(*each) == value).ok_or("neither true, false nor \"fit\"")
    }
}

/// Criteria with their scope and guidance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// How people and reports call it.
    pub name: String,
    pub scope: Scope,
    /// What is asked; at least one where it comes from a file.
    pub criteria: Vec<Criterion>,
    /// Context for the reviewer, from the author of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
    /// Ask this reviewer rather than the first configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
}

impl Rule {
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
