//! Configuration, rules, jobs, tasks, state files and qr modules, asking nobody and writing nothing.

mod state_files;
mod tasks;

use crate::Failure;
use crate::answer::v1::{self, Answer};
use crate::project::{self, Project};
use crate::wanted::unmatched;
use countersign_doors::jobs::library::{JOBS_FOLDER, Library, Listing};
use countersign_doors::qr::modules::{self, Modules};
use countersign_doors::service::error::ServiceError;
use countersign_doors::service::plan;
use countersign_doors::service::tasks::read_plan;
use countersign_engine::config::{self, Diagnostic, Problems};
use countersign_engine::workspace;
use std::path::{Path, PathBuf};
use tasks::Tasks;

/// Checks everything that can be checked without asking, or only these state files. What is wrong is reported for all
/// files together.
pub fn validate(config: Option<&Path>, named: &[PathBuf]) -> Result<Answer<v1::Valid>, Failure> {
    if !named.is_empty() {
        return only(named);
    }
    let here = project::current_folder()?;
    let root = config::find_root(&here, &project::environment())?;
    let jobs = Library::new(&root, project::more_job_folders(&here)).look();
    let project = Project::find(config, None);
    let state_files = state_files::files(project.as_ref().ok().map(|project| &project.config), &here);
    let file = project.as_ref().ok().and_then(|project| project.config.file.as_deref());
    let tasks = tasks::check(&root, file);
    let (plan_tasks, of_plan) = plan_of(&root);
    let without = !state_files.is_empty()
        || plan_tasks > 0
        || !jobs.jobs.is_empty()
        || !jobs.errors.is_empty()
        || tasks.as_ref().map_or(true, Tasks::is_there);
    let configuration = project.and_then(|project| configuration(&project, without));
    let (tasks, of_tasks) = match tasks {
        Ok(tasks) => (tasks, None),
        Err(problems) => (Tasks::default(), Some(problems)),
    };
    let of_jobs = Problems::together(jobs.errors.iter().map(|error| error.problems.clone()));
    let of_states = Problems::of(state_files::problems(&state_files));
    let of_modules = Modules::of(&root.join(modules::FOLDER)).err();
    let others = of_jobs.into_iter().chain(of_tasks).chain(of_states).chain(of_modules).chain(of_plan);
    let valid = together(configuration, Problems::together(others))?;
    let lines = valid.words().into_iter().chain(job_words(&jobs, &root)).chain(tasks.words());
    let lines =
        lines.chain(plan_words(&root, plan_tasks)).chain(state_files.iter().map(|file| is_valid(file)));
    let own = v1::Valid {
        lines: lines.collect(),
        file: valid.file,
        rules: valid.rules,
        criteria: valid.criteria,
        reviewers: valid.reviewers,
        jobs: jobs.jobs.len(),
        tasks: tasks.list.as_ref().map_or(0, |(_, count)| *count),
        run_settings: tasks.settings,
        state_files,
        plan_tasks,
    };
    let doubtful = jobs.warnings.iter().chain(&tasks.warnings).map(warning);
    Ok(Answer::passed(own).warned(valid.left_out.into_iter().chain(doubtful).collect()))
}

/// Checks the files that are named, and nothing else.
fn only(files: &[PathBuf]) -> Result<Answer<v1::Valid>, Failure> {
    if let Some(problems) = Problems::of(state_files::problems(files)) {
        return Err(problems.into());
    }
    let lines = files.iter().map(|file| is_valid(file)).collect();
    Ok(Answer::passed(v1::Valid { state_files: files.to_vec(), lines, ..v1::Valid::default() }))
}

fn is_valid(file: &Path) -> String {
    format!("{}: valid", file.display())
}

/// How many tasks the plan has, and what is wrong with it.
fn plan_of(root: &Path) -> (usize, Option<Problems>) {
    match read_plan(&root.join(plan::FILE)) {
        Ok(None) => (0, None),
        Ok(Some(reading)) => match reading.valid() {
            Ok(plan) => (plan.tasks.len(), None),
            Err(problems) => (0, Some(problems)),
        },
        Err(ServiceError::Plan(problems)) => (0, Some(problems)),
        Err(_) => (0, None),
    }
}

fn plan_words(root: &Path, count: usize) -> Option<String> {
    (count > 0).then(|| format!("{}: {count} tasks: valid", root.join(plan::FILE).display()))
}

/// A configuration in which nothing is wrong.
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
    /// In a line, for people; none without a file.
    pub fn words(&self) -> Option<String> {
        let Self { file, rules, criteria, reviewers, .. } = self;
        let file = file.as_ref()?.display();
        Some(format!("{file}: {rules} rules, {criteria} criteria, {reviewers} reviewers: valid"))
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

fn job_words(jobs: &Listing, root: &Path) -> Option<String> {
    let steps: usize = jobs.jobs.iter().map(|job| job.steps.len()).sum();
    let folder = root.join(JOBS_FOLDER);
    let counted = jobs.jobs.len();
    (counted > 0).then(|| format!("{}: {counted} jobs, {steps} steps: valid", folder.display()))
}

/// A warning with its place, in a line.
fn warning(warning: &Diagnostic) -> String {
    let Diagnostic { message, place, hint, .. } = warning;
    let hint = hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}:{}:{}: {message}{hint}", place.file().display(), place.line(), place.column())
}
