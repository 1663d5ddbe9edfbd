//! A job: steps with outputs and reviews, and workflows through them. `written` has the types of the file; the others
//! turn them into a job and report all mistakes, and `warnings` what is valid and will not work well.

mod order;
mod read;
mod step;
#[cfg(test)]
mod tests;
mod warnings;
mod workflow;
mod written;

pub use read::{Lost, Reading, read};

use countersign_core::criterion::Criterion;
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::OutputKind;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A job. The ledger keeps it with each workflow that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The name of its folder may differ.
    pub name: String,
    pub version: String,
    pub summary: String,
    /// What every step is told.
    pub common_info: String,
    pub dir: PathBuf,
    pub steps: Vec<Step>,
    pub workflows: Vec<Workflow>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub summary: String,
    /// The ids of steps; those of one entry are concurrent.
    pub entries: Vec<Vec<String>>,
    /// The kind of agent that should run it.
    pub agent: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    pub name: String,
    pub description: String,
    pub instructions: String,
    pub outputs: Vec<StepOutput>,
    pub reviews: Vec<StepReview>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOutput {
    pub name: String,
    pub kind: OutputKind,
    pub description: String,
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReview {
    pub run_each: RunEach,
    /// Names and questions, in the order of the file.
    pub criteria: Vec<(String, String)>,
    pub guidance: Option<String>,
}

/// What a review looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEach {
    /// All outputs together.
    Step,
    /// One output; file by file where it has several.
    Output(String),
}

impl RunEach {
    pub fn text(&self) -> &str {
        match self {
            Self::Step => "step",
            Self::Output(name) => name,
        }
    }
}

impl Job {
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }
}

impl Step {
    /// Its reviews as rules. Two reviews may look at the same thing, so each name begins with a number.
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |(i, review): (usize, &StepReview)| {
            let scope = match &review.run_each {
                RunEach::Step => Scope::Whole,
                RunEach::Output(name) => Scope::Output(name.clone()),
            };
            let criteria = review.criteria.iter().map(|(name, ask)| Criterion::must(name, ask)).collect();
            let name = format!("{} {}", i + 1, review.run_each.text());
            // The document says what stands in place of a file that cannot be shown.
            let rule = Rule::new(name, scope, criteria).with_placeholders();
            Rule { guidance: review.guidance.clone(), ..rule }
        };
        self.reviews.iter().enumerate().map(rule).collect()
    }
}
