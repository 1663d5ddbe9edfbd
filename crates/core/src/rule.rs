//! Rules: criteria, what they apply to, and guidance. The dialects call a rule a review.

use crate::criterion::Criterion;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

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
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Patterns of the files that may pass although no reviewer sees them, and [`MEDIA`]; [`MAY_STAY_UNSEEN`] where nothing
    /// is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Vec<String>>,
    /// Patterns of files that it is not about, although its scope has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Of a change: whether a finding has to be about it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lines: Lines,
}

/// Which findings about a change block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lines {
    /// All.
    #[default]
    File,
    /// Those that the change caused. The reviewer is asked which it did not, and that counts only in lines which the change
    /// did not touch.
    Changed,
}

/// The word for pictures, sound, video and fonts whose first bytes fit their names.
pub const MEDIA: &str = "media";

/// What may stay unseen where a rule does not say: media, and lock files that are too long to be shown.
pub const MAY_STAY_UNSEEN: [&str; 5] = [MEDIA, "**/*.lock", "**/*-lock.json", "**/*-lock.yaml", "**/go.sum"];

/// The names of submissions are made of this form: what was not there at first is left out where nothing is said.
impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Rule");
        fields.field("name", &self.name).field("scope", &self.scope).field("criteria", &self.criteria);
        fields.field("guidance", &self.guidance).field("reviewer", &self.reviewer);
        if let Some(unseen) = &self.unseen {
            fields.field("unseen", unseen);
        }
        if !self.exclude.is_empty() {
            fields.field("exclude", &self.exclude);
        }
        if self.lines != Lines::File {
            fields.field("lines", &self.lines);
        }
        fields.finish()
    }
}

impl Rule {
    /// A rule that says nothing but what it asks, and of what.
    pub fn new(name: impl Into<String>, scope: Scope, criteria: Vec<Criterion>) -> Self {
        Self {
            name: name.into(),
            scope,
            criteria,
            guidance: None,
            reviewer: None,
            unseen: None,
            exclude: vec![],
            lines: Lines::File,
        }
    }

    /// The same, where placeholders for what cannot be shown are ruled on like everything else.
    pub fn with_placeholders(self) -> Self {
        Self { unseen: Some(vec![MEDIA.to_owned(), "**".to_owned()]), ..self }
    }

    /// The same, where every finding counts, whatever caused it.
    pub fn about_whole_files(&self) -> Self {
        Self { lines: Lines::File, ..self.clone() }
    }

    /// The patterns of what may stay unseen.
    pub fn may_stay_unseen(&self) -> Vec<String> {
        self.unseen.clone().unwrap_or_else(|| MAY_STAY_UNSEEN.map(str::to_owned).to_vec())
    }

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

    /// Decisions and rulings are about these names.
    #[test]
    fn a_rule_that_says_nothing_new_has_the_form_it_always_had() {
        let rule = Rule::new("r", Scope::Whole, vec![]);
        assert_eq!(
            format!("{rule:?}"),
            r#"Rule { name: "r", scope: Whole, criteria: [], guidance: None, reviewer: None }"#
        );
        assert!(format!("{:?}", rule.clone().with_placeholders()).ends_with(r#"unseen: ["media", "**"] }"#));
        let more = Rule { exclude: vec!["a".into()], lines: Lines::Changed, ..rule };
        assert!(format!("{more:?}").ends_with(r#"exclude: ["a"], lines: Changed }"#));
    }

    #[test]
    fn the_ledger_keeps_what_it_always_kept() {
        for (each, text) in [(Each::File, "true"), (Each::Together, "false"), (Each::Fit, "\"fit\"")] {
            assert_eq!(serde_json::to_string(&each).unwrap(), text);
            assert_eq!(serde_json::from_str::<Each>(text).unwrap(), each);
        }
    }
}
