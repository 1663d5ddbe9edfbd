//! What differs at the door of task runs.

use super::{Checked, Door, Look, Pending};
use crate::Failure;
use crate::find::ambiguous;
use crate::project::Project;
use crate::run_project::RunProject;
use countersign_core::ids::{ReviewId, Subject};
use countersign_doors::run;
use countersign_doors::run::tasks_file;
use countersign_engine::config::{Diagnostic, Problems};
use countersign_engine::ledger::Ledger;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Its row.
pub const DOOR: Door = Door { find: Some(find), check: Some(check), ..Door::plain(run::DOOR) };

/// By the id of a task, such as TASK-003: its latest review.
fn find<'a>(_: &'a Project, ledger: &'a Ledger, typed: &'a str) -> Pending<'a, Option<ReviewId>> {
    Box::pin(of_task(ledger, typed))
}

async fn of_task(ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let is_id = typed.split_once('-').is_some_and(|(prefix, number)| {
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        prefix.starts_with(|c: char| c.is_ascii_uppercase())
            && prefix.chars().all(upper)
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
    });
    if !is_id {
        return Ok(None);
    }
    match ledger.subjects_of(run::DOOR, typed).await?.as_slice() {
        [] => Ok(None),
        [only] => Ok(ledger.latest_for(only).await?.map(|stored| stored.review.id)),
        several => {
            let all: Vec<&str> = several.iter().map(Subject::as_str).collect();
            Err(ambiguous(format!("`{typed}` is a task of several lists"))
                .hint(format!("name the one you mean: {}", all.join(", "))))
        }
    }
}

fn check(look: &Look<'_>) -> Checked {
    let file = look.config.and_then(|config| config.file.as_deref());
    let (found, problems) = match found(look.root, file) {
        Ok(found) => (found, None),
        Err(problems) => (Found::default(), Some(problems)),
    };
    let list = found.list.iter().map(|(path, count)| format!("{}: {count} tasks: valid\n", path.display()));
    let settings = found.settings.iter().map(|path| format!("{}: valid\n", path.display()));
    Checked {
        is_there: found.list.is_some() || found.settings.is_some() || problems.is_some(),
        words: list.chain(settings).collect(),
        keys: vec![
            ("tasks", json!(found.list.as_ref().map_or(0, |(_, count)| *count))),
            ("run_settings", json!(found.settings)),
        ],
        problems,
        warnings: found.warnings,
    }
}

/// What is there, and nothing wrong with it.
#[derive(Default)]
struct Found {
    /// The list and how many tasks it has.
    list: Option<(PathBuf, usize)>,
    /// The settings.
    settings: Option<PathBuf>,
    /// What is allowed and probably not meant.
    warnings: Vec<Diagnostic>,
}

/// The list and the settings below a folder, with the section of this `countersign.yml`.
fn found(root: &Path, configuration: Option<&Path>) -> Result<Found, Problems> {
    let run = match RunProject::at(root, configuration) {
        Ok(run) => run,
        // What the names begin with is not known then; the usual list is looked at all the same.
        Err(settings) => {
            let list = root.join("spec/tasks.md");
            let of_list = list.exists().then(|| tasks_file::read(&list).and_then(|list| list.valid()).err());
            let all = [Some(settings.clone()), of_list.flatten()].into_iter().flatten();
            return Err(Problems::together(all).unwrap_or(settings));
        }
    };
    let mut found = Found { list: None, settings: run.settings.file.clone(), warnings: vec![] };
    if run.has_tasks() {
        let path = run.layout.tasks();
        let (list, warnings) = tasks_file::read(&path)?.valid()?;
        found.list = Some((path, list.tasks().len()));
        found.warnings = warnings;
    }
    found.warnings.extend(run.settings.warnings);
    Ok(found)
}
