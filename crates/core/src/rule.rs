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
        /// Ask once per file rather than once for all.
        each: bool,
    },
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
