//! `job.yml` as people write it. Required keys are options too, so that one that is missing is reported
//! together with everything else.

use countersign_core::submission::OutputKind;
use countersign_engine::yaml::{At, Given, InOrder, List};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`, `version`, `summary` and `steps`")]
pub(super) struct WrittenJob {
    pub name: Option<At<String>>,
    pub version: Option<At<String>>,
    pub summary: Option<At<String>>,
    pub common_job_info_provided_to_all_steps_at_runtime: Option<At<String>>,
    pub steps: Option<List<WrittenStep>>,
    #[serde(default)]
    pub workflows: Given<Vec<At<WrittenWorkflow>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a workflow, a mapping with `name`, `summary` and `steps`")]
pub(super) struct WrittenWorkflow {
    pub name: Option<At<String>>,
    pub summary: Option<At<String>>,
    pub steps: Option<List<WrittenEntry>>,
    #[serde(default)]
    pub agent: Given<String>,
}

/// A step of a workflow, or several that may run at the same time.
#[derive(Debug)]
pub(super) enum WrittenEntry {
    One(String),
    Together(Vec<At<String>>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step, a mapping with `id`, `name` and more")]
pub(super) struct WrittenStep {
    pub id: Option<At<String>>,
    pub name: Option<At<String>>,
    pub description: Option<At<String>>,
    pub instructions_file: Option<At<String>>,
    pub outputs: Option<At<InOrder<WrittenOutput>>>,
    pub reviews: Option<List<WrittenReview>>,
    #[serde(default)]
    pub inputs: Given<Vec<At<WrittenInput>>>,
    #[serde(default)]
    pub dependencies: Given<Vec<At<String>>>,
    #[serde(default)]
    pub hooks: Given<WrittenHooks>,
    #[serde(default)]
    pub stop_hooks: Given<Vec<At<WrittenHook>>>,
    #[serde(default)]
    #[expect(dead_code, reason = "it is there so that anything but true or false is refused")]
    pub exposed: Given<bool>,
    #[serde(default)]
    #[expect(dead_code, reason = "it is there so that anything but true or false is refused")]
    pub hidden: Given<bool>,
    #[serde(default)]
    pub agent: Given<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `type`, `description` and `required`")]
pub(super) struct WrittenOutput {
    pub r#type: Option<At<OutputKind>>,
    pub description: Option<At<String>>,
    pub required: Option<At<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a review, a mapping with `run_each` and `quality_criteria`")]
pub(super) struct WrittenReview {
    pub run_each: Option<At<String>>,
    pub quality_criteria: Option<At<InOrder<String>>>,
    #[serde(default)]
    pub additional_review_guidance: Given<String>,
}

/// Something asked of the user, or a file of another step.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `name` and `description`, or with `file` and `from_step`"
)]
pub(super) struct WrittenInput {
    #[serde(default)]
    pub name: Given<String>,
    #[serde(default)]
    pub description: Given<String>,
    #[serde(default)]
    pub file: Given<String>,
    #[serde(default)]
    pub from_step: Given<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `after_agent`, `before_tool` or `before_prompt`")]
pub(super) struct WrittenHooks {
    #[serde(default)]
    pub after_agent: Given<Vec<At<WrittenHook>>>,
    #[serde(default)]
    pub before_tool: Given<Vec<At<WrittenHook>>>,
    #[serde(default)]
    pub before_prompt: Given<Vec<At<WrittenHook>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with one of `prompt`, `prompt_file` and `script`")]
pub(super) struct WrittenHook {
    #[serde(default)]
    pub prompt: Given<String>,
    #[serde(default)]
    pub prompt_file: Given<String>,
    #[serde(default)]
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WrittenEntry, A::Error> {
        let mut ids = Vec::new();
        while let Some(id) = seq.next_element()? {
            ids.push(id);
        }
        Ok(WrittenEntry::Together(ids))
    }
}
