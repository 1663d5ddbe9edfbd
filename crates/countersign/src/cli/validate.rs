//! `countersign validate`: configuration and rules, asking nobody and writing nothing.

use super::{Failure, Global};
use crate::output::Answer;
use crate::project::Project;
use crate::wanted::unmatched;
use countersign_core::outcome::Outcome;
use countersign_engine::workspace;
use serde_json::json;
use std::path::PathBuf;

/// Checks everything that can be checked without asking.
pub fn run(global: &Global) -> Result<Answer, Failure> {
    let valid = check(&Project::find(global, None)?)?;
    let Valid { file, rules, criteria, reviewers, .. } = &valid;
    let json = json!({ "file": file, "rules": rules, "criteria": criteria, "reviewers": reviewers });
    let answer = Answer::new(Outcome::Passed, valid.words(), json);
    Ok(Answer { warnings: valid.left_out, ..answer })
}

/// A configuration in which nothing is wrong.
pub struct Valid {
    /// The file.
    pub file: PathBuf,
    /// How many rules it has.
    pub rules: usize,
    /// How many criteria they have together.
    pub criteria: usize,
    /// How many reviewers may be asked.
    pub reviewers: usize,
    /// Files that could not be looked at.
    pub left_out: Vec<String>,
}

impl Valid {
    /// In a line, for people.
    pub fn words(&self) -> String {
        let Self { file, rules, criteria, reviewers, .. } = self;
        format!("{}: {rules} rules, {criteria} criteria, {reviewers} reviewers: valid\n", file.display())
    }
}

/// Rules that are for something, and recorded rulings that can be read.
pub fn check(project: &Project) -> Result<Valid, Failure> {
    let valid = check_rules(project)?;
    // Found here, not in the middle of a review.
    project.planner(None)?;
    Ok(valid)
}

/// The same without a look at what the reviewers need.
pub fn check_rules(project: &Project) -> Result<Valid, Failure> {
    let config = &project.config;
    let file = config.require_file().map_err(|problem| Failure::at(vec![problem]))?.clone();
    let found = workspace::walk(&project.root, "").map_err(|problem| Failure::usage(problem.to_string()))?;
    unmatched(config, &found.files)?;
    let criteria = config.rules.iter().map(|rule| rule.criteria.len()).sum();
    let (rules, reviewers) = (config.rules.len(), config.reviewers.len());
    Ok(Valid { file, rules, criteria, reviewers, left_out: found.left_out })
}
