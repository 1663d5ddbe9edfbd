//! What a step hands in, and what it is reviewed by.

use super::QualityGateError;
use crate::workspace::{PathProblem, Root};
use countersign_core::criterion::{Criterion, first_double};
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_core::text;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

/// The `run_each` of a review that looks at all outputs together.
pub const STEP: &str = "step";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputValue {
    File(String),
    Files(Vec<String>),
}

impl OutputValue {
    fn kind(&self) -> OutputKind {
        match self {
            Self::File(_) => OutputKind::File,
            Self::Files(_) => OutputKind::Files,
        }
    }

    fn paths(&self) -> &[String] {
        match self {
            Self::File(path) => std::slice::from_ref(path),
            Self::Files(paths) => paths,
        }
    }
}

#[derive(Clone, Debug)]
pub struct StepWork {
    /// Paths are taken from here, and stay inside.
    pub root: Root,
    /// The paths by output. Absolute ones are taken too, where they lead inside the root.
    pub outputs: BTreeMap<String, OutputValue>,
    /// The declared outputs; one without a declaration is of the kind that was handed in.
    pub output_specs: BTreeMap<String, OutputKind>,
    /// What the author says about the work.
    pub notes: Option<String>,
}

impl StepWork {
    /// All outputs, declared or handed in, by name.
    pub(super) fn named_outputs(&self) -> Result<Vec<Output>, QualityGateError> {
        let names: BTreeSet<&String> = self.output_specs.keys().chain(self.outputs.keys()).collect();
        let output = |name: &String| {
            let declared = self.output_specs.get(name).copied();
            let given = self.outputs.get(name).map(OutputValue::kind);
            match (declared, given) {
                (Some(declared), Some(given)) if declared != given => {
                    let output = text::visible_line(name).into_owned();
                    Err(QualityGateError::WrongKind { output, declared })
                }
                // Every name is a key of one of the two maps.
                _ => {
                    let kind = declared.or(given).unwrap_or(OutputKind::File);
                    Ok(Output { name: name.clone(), kind })
                }
            }
        };
        names.into_iter().map(output).collect()
    }

    /// Every path relative to the root, with the index of its output. No file is touched on the async runtime.
    pub(super) async fn project_paths(
        &self,
        outputs: &[Output],
    ) -> Result<Vec<(String, usize)>, QualityGateError> {
        let of = |(i, output): (usize, &Output)| {
            let paths = self.outputs.get(&output.name).map_or(&[][..], OutputValue::paths);
            paths.iter().map(|path| (path.clone(), i)).collect::<Vec<_>>()
        };
        let given: Vec<_> = outputs.iter().enumerate().flat_map(of).collect();
        let root = self.root.clone();
        let resolve =
            move || given.into_iter().map(|(path, i)| Ok((project_path(&root, path)?, i))).collect();
        let resolved: Result<_, PathProblem> =
            tokio::task::spawn_blocking(resolve).await.map_err(io::Error::other)?;
        Ok(resolved?)
    }
}

/// The path relative to the root. One inside it that cannot be followed is kept: the reviewer is shown that it is missing
/// or cannot be read, and reading is refused if it leads out.
fn project_path(root: &Root, given: String) -> Result<String, PathProblem> {
    match root.relative(root.path(), Path::new(&given)) {
        Err(problem @ PathProblem::Unreadable { .. }) => {
            let path = Path::new(&given);
            let inside = path.strip_prefix(root.path()).unwrap_or(path);
            let plain =
                inside.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            inside.to_str().filter(|_| plain).map(str::to_owned).ok_or(problem)
        }
        other => other,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReview {
    /// [`STEP`] for all outputs together, or the name of an output.
    pub run_each: String,
    /// Names and questions, in order.
    pub quality_criteria: Vec<(String, String)>,
    pub additional_review_guidance: Option<String>,
}

impl StepReview {
    /// The review as a rule. A reply answers by name, so two criteria of one name are an error.
    pub(super) fn rule(&self) -> Result<Rule, QualityGateError> {
        let scope = match self.run_each.as_str() {
            STEP => Scope::Whole,
            output => Scope::Output(output.to_owned()),
        };
        let criteria: Vec<_> =
            self.quality_criteria.iter().map(|(name, ask)| Criterion::must(name, ask)).collect();
        if let Some((first, second)) = first_double(&criteria) {
            let name = |i: usize| text::visible_line(&criteria[i].name).into_owned();
            return Err(QualityGateError::DoubledCriterion { first: name(first), second: name(second) });
        }
        let guidance = self.additional_review_guidance.clone();
        // The document says what stands in place of a file that cannot be shown.
        Ok(Rule { guidance, ..Rule::new(&self.run_each, scope, criteria).with_placeholders() })
    }
}
