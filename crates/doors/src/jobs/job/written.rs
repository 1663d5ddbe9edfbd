//! The types of a `job.yml`. Required keys are options too, so that all missing ones are reported together.

use countersign_core::submission::OutputKind;
use countersign_engine::yaml::{At, Given, List, OrderedMap};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `name`, `version`, `summary` and `steps`")]
pub(super) struct WrittenJob {
    pub name: Option<At<String>>,
    pub version: Option<At<String>>,
    pub summary: Option<At<String>>,
    pub common_job_info_provided_to_all_steps_at_runtime: Option<At<String>>,
    pub steps: Option<List<WrittenStep>>,
    pub workflows: Given<Vec<At<WrittenWorkflow>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a workflow, a mapping with `name`, `summary` and `steps`")]
pub(super) struct WrittenWorkflow {
    pub name: Option<At<String>>,
    pub summary: Option<At<String>>,
    pub steps: Option<List<WrittenEntry>>,
    pub agent: Given<String>,
}

#[derive(Debug)]
pub(super) enum WrittenEntry {
    One(String),
    Together(Vec<At<String>>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a step, a mapping with `id`, `name` and more")]
pub(super) struct WrittenStep {
    pub id: Option<At<String>>,
    pub name: Option<At<String>>,
    pub description: Option<At<String>>,
    pub instructions_file: Option<At<String>>,
    pub outputs: Option<At<OrderedMap<WrittenOutput>>>,
    pub reviews: Option<List<WrittenReview>>,
    pub inputs: Given<Vec<At<WrittenInput>>>,
    pub dependencies: Given<Vec<At<String>>>,
    pub hooks: Given<WrittenHooks>,
    pub stop_hooks: Given<Vec<At<WrittenHook>>>,
    // Read only so that anything but true or false is refused; so is `hidden`.
    pub exposed: Given<bool>,
    pub hidden: Given<bool>,
    pub agent: Given<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `type`, `description` and `required`")]
pub(super) struct WrittenOutput {
    pub r#type: Option<At<OutputKind>>,
    pub description: Option<At<String>>,
    pub required: Option<At<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[serde(expecting = "a review, a mapping with `run_each` and `quality_criteria`")]
pub(super) struct WrittenReview {
    pub run_each: Option<At<String>>,
    pub quality_criteria: Option<At<OrderedMap<String>>>,
    pub additional_review_guidance: Given<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[serde(expecting = "a mapping with `name` and `description`, or with `file` and `from_step`")]
pub(super) struct WrittenInput {
    pub name: Given<String>,
    pub description: Given<String>,
    pub file: Given<String>,
    pub from_step: Given<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[serde(expecting = "a mapping with `after_agent`, `before_tool` or `before_prompt`")]
pub(super) struct WrittenHooks {
    pub after_agent: Given<Vec<At<WrittenHook>>>,
    pub before_tool: Given<Vec<At<WrittenHook>>>,
    pub before_prompt: Given<Vec<At<WrittenHook>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[serde(expecting = "a mapping with one of `prompt`, `prompt_file` and `script`")]
pub(super) struct WrittenHook {
    pub prompt: Given<String>,
    pub prompt_file: Given<String>,
    pub script: Given<String>,
}

impl<'de> Deserialize<'de> for WrittenEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = WrittenEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a step or a list of ids")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<WrittenEntry, E> {
        Ok(WrittenEntry::One(id.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, ids: A) -> Result<WrittenEntry, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(ids)).map(WrittenEntry::Together)
    }
}
