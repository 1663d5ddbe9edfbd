//! Checks configuration, rules, jobs, tasks, state files and qr modules. Calls no reviewer and writes nothing.

use crate::Failure;
use crate::answer::v1::{Answer, Valid};
use crate::doors::{Checked, DOORS, Look, qr};
use crate::project::{self, Project};
use crate::review_request::unmatched;
use countersign_engine::config::{self, Diagnostic, Problems};
use countersign_engine::workspace;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Checks everything that needs no reviewer, or only these state files. Errors of all files are reported together.
pub fn validate(config: Option<&Path>, named: &[PathBuf]) -> Result<Answer<Valid>, Failure> {
    if !named.is_empty() {
        return only(named);
    }
    let here = project::current_folder()?;
    let root = config::find_root(&here, &project::environment())?;
    let project = Project::find(config, None);
    let config = project.as_ref().ok().map(|project| &project.config);
    let mut doors = DOORS.check(&Look { root: &root, here: &here, config });
    let without = doors.iter().any(|door| door.is_there);
    let configuration = project.and_then(|project| configuration(&project, without));
    let problems = Problems::together(doors.iter_mut().filter_map(|door| door.problems.take()));
    Ok(answer(together(configuration, problems)?, doors))
}

fn only(files: &[PathBuf]) -> Result<Answer<Valid>, Failure> {
    let mut states = qr::check_files(files);
    match states.problems.take() {
        Some(problems) => Err(problems.into()),
        None => Ok(answer(Valid::default(), vec![states])),
    }
}

fn answer(mut valid: Valid, doors: Vec<Checked>) -> Answer<Valid> {
    let lines = doors.iter().flat_map(|door| door.words.lines().map(str::to_owned));
    valid.lines = valid.words().into_iter().chain(lines).collect();
    let mut warnings = valid.left_out.clone();
    warnings.extend(doors.iter().flat_map(|door| &door.warnings).map(warning));
    let keys = doors.into_iter().flat_map(|door| door.keys);
    let keys: Map<String, Value> = keys.map(|(key, value)| (key.to_owned(), value)).collect();
    valid.files = serde_json::from_value(Value::Object(keys)).unwrap_or_default();
    Answer::passed(valid).warned(warnings)
}

/// Checks that every rule matches a file, and that the reviewers can be set up.
pub fn check(project: &Project) -> Result<Valid, Failure> {
    let valid = check_rules(project)?;
    // An error must show here, not during a review.
    project.planner(None)?;
    Ok(valid)
}

/// The same without the reviewers.
pub fn check_rules(project: &Project) -> Result<Valid, Failure> {
    let config = &project.config;
    let file = config.require_file().map_err(|problem| Failure::at(vec![problem]))?.clone();
    let found = workspace::walk(&project.root, "").map_err(|problem| Failure::usage(problem.to_string()))?;
    unmatched(config, &found.files, |_| true)?;
    let criteria = config.rules.iter().map(|rule| rule.criteria.len()).sum();
    let (rules, reviewers) = (config.rules.len(), config.reviewers.len());
    let (file, left_out) = (Some(file), found.left_out());
    Ok(Valid { file, rules, criteria, reviewers, left_out, ..Valid::default() })
}

/// The configuration; only a project with jobs, tasks or state files may have none.
fn configuration(project: &Project, without: bool) -> Result<Valid, Failure> {
    if project.config.file.is_some() || !without {
        return check(project);
    }
    project.planner(None)?;
    Ok(Valid { reviewers: project.config.reviewers.len(), ..Valid::default() })
}

/// The configuration, if neither it nor any other file has errors.
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

/// A warning on one line, with its place.
pub(crate) fn warning(warning: &Diagnostic) -> String {
    let Diagnostic { message, place, hint, .. } = warning;
    let hint = hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}:{}:{}: {message}{hint}", place.file().display(), place.line(), place.column())
}
