//! Checks as people write them: a bare word, or one key with what it needs.

use crate::yaml::{At, Count, Given, List, Whole};
use countersign_core::check::{Check, DEFAULT_RUN_TIMEOUT_SECONDS, RunCheck};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A check whose parts know where they were written.
pub(super) type WrittenCheck = Check<At<String>, List<String>, At<WrittenRun>>;

/// A command as a check: the command alone, or with its exit code and timeout.
#[derive(Debug)]
pub(super) struct WrittenRun(RunKeys);

/// A command that is run in the project's root. The files of the question are its arguments.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[schemars(rename = "Run")]
#[serde(deny_unknown_fields)]
struct RunKeys {
    /// Given to `sh -c`.
    #[schemars(length(min = 1))]
    command: String,
    /// The exit code that means "passes".
    #[serde(default)]
    #[schemars(extend("default" = 0))]
    exit_code: Given<Whole<0, 255>>,
    /// After this many seconds the command is ended and there is no verdict.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_RUN_TIMEOUT_SECONDS))]
    timeout_seconds: Given<Count>,
}

/// What is meant; nothing where a part could not be read, which is reported already.
pub(super) fn meaning(written: &WrittenCheck) -> Option<Check> {
    let text = |at: &At<String>| at.value.clone();
    written.read(
        text,
        |list| list.value.as_ref()?.iter().map(text).collect(),
        |run| run.value.as_ref()?.meaning(),
    )
}

/// Where what it needs is written; for a bare word, nowhere.
pub(super) fn value_span(written: &WrittenCheck) -> Option<std::ops::Range<usize>> {
    match written {
        Check::RequiredHeadings(list) => Some(list.span.clone()),
        Check::RequiredPattern(at) | Check::ForbiddenPattern(at) => Some(at.span.clone()),
        Check::Run(run) => Some(run.span.clone()),
        _ => None,
    }
}

impl WrittenRun {
    fn meaning(&self) -> Option<RunCheck> {
        let Self(RunKeys { command, exit_code, timeout_seconds }) = self;
        let exit_code = match &exit_code.0 {
            Some(at) => at.value?.get().cast_signed(),
            None => 0,
        };
        let timeout_seconds = match &timeout_seconds.0 {
            Some(at) => at.value?.get().into(),
            None => DEFAULT_RUN_TIMEOUT_SECONDS,
        };
        Some(RunCheck { command: command.clone(), exit_code, timeout_seconds })
    }
}

impl<'de> Deserialize<'de> for WrittenRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunVisitor)
    }
}

struct RunVisitor;

impl<'de> Visitor<'de> for RunVisitor {
    type Value = WrittenRun;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command or a mapping with `command`")
    }

    fn visit_str<E: Error>(self, command: &str) -> Result<WrittenRun, E> {
        let command = command.to_owned();
        Ok(WrittenRun(RunKeys { command, exit_code: Given(None), timeout_seconds: Given(None) }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenRun, A::Error> {
        RunKeys::deserialize(MapAccessDeserializer::new(map)).map(WrittenRun)
    }
}

impl JsonSchema for WrittenRun {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RunOrCommand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = generator.subschema_for::<RunKeys>();
        json_schema!({ "anyOf": [{ "type": "string", "minLength": 1 }, keys] })
    }
}
