//! `countersign validate`: configuration and rules, asking nobody and writing nothing.

use super::review::unmatched;
use super::{Failure, Global};
use crate::output::Answer;
use crate::project::Project;
use countersign_core::outcome::Outcome;
use countersign_engine::workspace;
use serde_json::json;

/// Checks everything that can be checked without asking.
pub fn run(global: &Global) -> Result<Answer, Failure> {
    let project = Project::find(global, None)?;
    let file = project.config.require_file().map_err(|problem| Failure::at(vec![problem]))?.clone();
    let found = workspace::walk(&project.root, "").map_err(|problem| Failure::usage(problem.to_string()))?;
    unmatched(&project.config, &found.files)?;
    // Recorded rulings that cannot be read are found here, not in the middle of a review.
    project.planner(None)?;
    let rules = project.config.rules.len();
    let criteria: usize = project.config.rules.iter().map(|rule| rule.criteria.len()).sum();
    let reviewers = project.config.reviewers.len();
    let text =
        format!("{}: {rules} rules, {criteria} criteria, {reviewers} reviewers: valid\n", file.display());
    let json = json!({ "file": file, "rules": rules, "criteria": criteria, "reviewers": reviewers });
    let mut answer = Answer::new(Outcome::Passed, text, json);
    answer.warnings = found.left_out;
    Ok(answer)
}
