//! `countersign validate`: configuration, rules, jobs, tasks, state files and qr modules, asking nobody and writing
//! nothing.

use super::arguments::ValidateOptions;
use super::{Failure, Global};
use crate::output::Answer;
use countersign_app::doors::{Checked, DOORS, Look, qr};
use countersign_app::project::{self, Project};
use countersign_app::wanted::unmatched;
use countersign_core::outcome::Outcome;
use countersign_engine::config::{self, Diagnostic, Problems};
use countersign_engine::workspace;
use serde_json::json;
use std::path::PathBuf;

/// Checks everything that can be checked without asking. What is wrong is reported for all files together.
pub fn run(global: &Global, options: &ValidateOptions) -> Result<Answer, Failure> {
    let here = project::current_folder()?;
    if !options.files.is_empty() {
        return named(&options.files);
    }
    let root = config::find_root(&here, &project::environment())?;
    let project = Project::find(global.config.as_deref(), None);
    let config = project.as_ref().ok().map(|project| &project.config);
    let mut doors = DOORS.check(&Look { root: &root, here: &here, config });
    let without = doors.iter().any(|door| door.is_there);
    let configuration = project.and_then(|project| configuration(&project, without));
    let problems = Problems::together(doors.iter_mut().filter_map(|door| door.problems.take()));
    let valid = together(configuration, problems)?;
    Ok(answer(&valid, &doors))
}

/// Checks the files somebody names, and nothing else.
fn named(files: &[PathBuf]) -> Result<Answer, Failure> {
    let mut states = qr::check_files(files);
    if let Some(problems) = states.problems.take() {
        return Err(problems.into());
    }
    // Nothing of the others was looked at.
    let keys = ["jobs", "tasks", "plan_tasks"].map(|key| (key, json!(0)));
    let keys = keys.into_iter().chain([("run_settings", json!(null))]).collect();
    let others = Checked { keys, ..Checked::default() };
    Ok(answer(&Valid::default(), &[states, others]))
}

fn answer(valid: &Valid, doors: &[Checked]) -> Answer {
    let Valid { file, rules, criteria, reviewers, left_out } = valid;
    let mut json = json!({ "file": file, "rules": rules, "criteria": criteria, "reviewers": reviewers });
    for (key, value) in doors.iter().flat_map(|door| &door.keys) {
        json[*key] = value.clone();
    }
    let text = doors.iter().fold(valid.words(), |text, door| text + &door.words);
    let doubtful = doors.iter().flat_map(|door| &door.warnings).map(warning);
    let warnings = left_out.iter().cloned().chain(doubtful).collect();
    Answer { warnings, ..Answer::new(Outcome::Passed, text, json) }
}

/// A configuration in which nothing is wrong.
#[derive(Default)]
pub struct Valid {
    /// The file; a project may do with jobs or tasks alone.
    pub file: Option<PathBuf>,
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
        let Some(file) = file else { return String::new() };
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
    Ok(Valid { file: Some(file), rules, criteria, reviewers, left_out: found.left_out })
}

/// The configuration; only a project with jobs, tasks or state files can do without.
fn configuration(project: &Project, without: bool) -> Result<Valid, Failure> {
    if project.config.file.is_some() || !without {
        return check(project);
    }
    project.planner(None)?;
    let reviewers = project.config.reviewers.len();
    Ok(Valid { file: None, rules: 0, criteria: 0, reviewers, left_out: vec![] })
}

/// The configuration, if nothing is wrong with it nor with any other file.
fn together(configuration: Result<Valid, Failure>, others: Option<Problems>) -> Result<Valid, Failure> {
    match (configuration, others) {
        (Ok(valid), None) => Ok(valid),
        (Ok(_), Some(problems)) => Err(problems.into()),
        (Err(failure), Some(others)) if !failure.diagnostics.is_empty() => {
            let own = Problems { listed: failure.diagnostics.clone(), left_out: failure.left_out };
            Err(Problems::together([own, others]).map_or(failure, Failure::from))
        }
        (Err(failure), _) => Err(failure),
    }
}

/// A warning with its place, in a line.
fn warning(warning: &Diagnostic) -> String {
    let Diagnostic { message, place, hint, .. } = warning;
    let hint = hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}:{}:{}: {message}{hint}", place.file().display(), place.line(), place.column())
}
