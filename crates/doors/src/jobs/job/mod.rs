//! A job: steps with outputs and reviews, and workflows through them.
//!
//! `written` is the file as people write it; `read`, `step`, `order` and `workflow` say what it means and report
//! all that is wrong with it; `warnings` says what is not wrong and will not work well.

mod order;
mod read;
mod step;
#[cfg(test)]
mod tests;
mod warnings;
mod workflow;
mod written;

pub use read::{Files, MAX_INSTRUCTIONS_BYTES, Reading, read, read_placed};

use countersign_core::criterion::Criterion;
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A job, as its `job.yml` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name; the name of its folder may differ.
    pub name: String,
    /// N.N.N.
    pub version: String,
    /// In one line.
    pub summary: String,
    /// What every step is told.
    pub common_info: String,
    /// The folder it is in.
    pub dir: PathBuf,
    /// What can be done.
    pub steps: Vec<Step>,
    /// In which order.
    pub workflows: Vec<Workflow>,
}

/// A way through a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// In one line.
    pub summary: String,
    /// Ids of steps; those of one entry may run at the same time.
    pub entries: Vec<Vec<String>>,
    /// The kind of agent that should run it, where the file says so.
    pub agent: Option<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What the agent is told to do: the text of its instructions file.
    pub instructions: String,
    /// What it must hand in.
    pub outputs: Vec<StepOutput>,
    /// What is asked about that.
    pub reviews: Vec<StepReview>,
}

/// Something a step hands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOutput {
    /// Its name.
    pub name: String,
    /// One file or several.
    pub kind: OutputKind,
    /// What it is.
    pub description: String,
    /// Whether the step is not finished without it.
    pub required: bool,
}

/// What is asked about the outputs of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReview {
    /// What it looks at.
    pub run_each: RunEach,
    /// Names and questions, in the order of the file.
    pub criteria: Vec<(String, String)>,
    /// What the reviewer should know beside them.
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
    /// As the file has it.
    pub fn text(&self) -> &str {
        match self {
            Self::Step => "step",
            Self::Output(name) => name,
        }
    }
}

impl Job {
    /// A step by id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }
}

impl Step {
    /// Its outputs as the engine knows them.
    pub fn engine_outputs(&self) -> Vec<Output> {
        self.outputs.iter().map(|output| Output { name: output.name.clone(), kind: output.kind }).collect()
    }

    /// Its reviews as rules. Two reviews may look at the same thing, so each name begins with a number.
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |(i, review): (usize, &StepReview)| Rule {
            name: format!("{} {}", i + 1, review.run_each.text()),
            scope: match &review.run_each {
                RunEach::Step => Scope::Whole,
                RunEach::Output(name) => Scope::Output(name.clone()),
            },
            criteria: review
                .criteria
                .iter()
                .map(|(name, ask)| Criterion::must(name.as_str(), ask.as_str()))
                .collect(),
            guidance: review.guidance.clone(),
            reviewer: None,
        };
        self.reviews.iter().enumerate().map(rule).collect()
    }
}
