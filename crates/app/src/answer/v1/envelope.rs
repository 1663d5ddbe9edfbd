//! The keys that every answer has, and the answer of a command or request that failed.

use super::Problem;
use crate::Failure;
use countersign_core::outcome::Outcome;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// The keys of every answer, and the command's own keys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
pub struct Answer<T> {
    /// The version of this form.
    pub schema: Version,
    /// The command whose answer this is.
    pub command: &'static str,
    /// The outcome; null while it is not known.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The exit code of the command; null over HTTP while it is not known.
    pub exit_code: Option<u8>,
    /// Null; an object if the command failed.
    pub error: Null,
    /// Warnings for people.
    pub warnings: Vec<String>,
    /// The command's own keys.
    #[serde(flatten)]
    pub own: T,
}

impl<T> Answer<T> {
    /// An answer with this outcome; without one it is under way.
    pub fn new(outcome: Option<Outcome>, own: T) -> Self {
        let exit_code = outcome.map(Outcome::exit_code);
        let (outcome, reason) = outcome_and_reason(outcome);
        let (schema, error) = (Version::One, Null(()));
        Self { schema, command: "", outcome, reason, exit_code, error, warnings: vec![], own }
    }

    pub fn passed(own: T) -> Self {
        Self::new(Some(Outcome::Passed), own)
    }

    /// The same with exit code 0: the command succeeded, also if it shows a failed review.
    pub fn done(self) -> Self {
        Self { exit_code: Some(Outcome::Passed.exit_code()), ..self }
    }

    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Answer<U> {
        let Self { schema, command, outcome, reason, exit_code, error, warnings, own } = self;
        Answer { schema, command, outcome, reason, exit_code, error, warnings, own: with(own) }
    }

    pub fn warned(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    pub fn of(self, command: &'static str) -> Self {
        Self { command, ..self }
    }
}

/// A command or a request that failed, or was refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refusal")]
pub struct Failed {
    /// The version of this form.
    pub schema: Version,
    /// The command; empty if there is none.
    pub command: &'static str,
    /// The outcome.
    pub outcome: OutcomeName,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// The exit code of the command.
    pub exit_code: u8,
    /// What went wrong.
    pub error: Problem,
    /// Warnings for people.
    pub warnings: Vec<String>,
}

impl Failed {
    pub fn of(command: &'static str, failure: &Failure) -> Self {
        let (outcome, reason) = (OutcomeName(failure.outcome), failure.outcome.reason());
        let (schema, exit_code, error) = (Version::One, failure.outcome.exit_code(), failure.into());
        Self { schema, command, outcome, reason, exit_code, error, warnings: vec![] }
    }
}

/// Always null.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Null(());

/// The version of the objects for programs.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub enum Version {
    /// The first.
    #[serde(rename = "countersign/1")]
    One,
}

/// The keys `outcome` and `reason`.
pub(super) fn outcome_and_reason(outcome: Option<Outcome>) -> (Option<OutcomeName>, Option<&'static str>) {
    (outcome.map(OutcomeName), outcome.and_then(Outcome::reason))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeName(pub Outcome);

impl Serialize for OutcomeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl JsonSchema for OutcomeName {
    fn schema_name() -> Cow<'static, str> {
        "Outcome".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Outcome::ALL.map(Outcome::name) })
    }
}
