//! The row of the door of task runs.

use super::{Checked, Door, Look, Pending};
use crate::Failure;
use crate::find::ambiguous;
use crate::project::Project;
use crate::run_project::RunProject;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::text::counted;
use countersign_doors::run;
use countersign_doors::run::task_file;
use countersign_engine::config::{Diagnostic, Problems};
use countersign_engine::ledger::Ledger;
use serde_json::json;
use std::path::{Path, PathBuf};

pub const DOOR: Door = Door { find: Some(find), check: Some(check), ..Door::plain(run::DOOR) };

/// The latest review of a task, by its id such as TASK-003.
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
    found(look.root, file).unwrap_or_else(|problems| Checked {
        is_there: true,
        problems: Some(problems),
        ..checked(None, None, vec![])
    })
}

/// The valid files: the list with its number of tasks, and the settings.
fn checked(list: Option<(PathBuf, usize)>, settings: Option<PathBuf>, warnings: Vec<Diagnostic>) -> Checked {
    let list_words = list.iter().map(|(path, count)| match count {
        0 => format!("{}: no task was found\n", path.display()),
        count => format!("{}: {}: valid\n", path.display(), counted(*count, "task", "tasks")),
    });
    let words = list_words.chain(settings.iter().map(|path| format!("{}: valid\n", path.display())));
    let count = list.as_ref().map_or(0, |(_, count)| *count);
    Checked {
        is_there: list.is_some() || settings.is_some(),
        words: words.collect(),
        keys: vec![("tasks", json!(count)), ("run_settings", json!(settings))],
        problems: None,
        warnings,
    }
}

/// The list and the settings below a folder, with the section of this `countersign.yml`.
fn found(root: &Path, configuration: Option<&Path>) -> Result<Checked, Problems> {
    let run = match RunProject::at(root, configuration) {
        Ok(run) => run,
        // Without settings the prefix of names is unknown; the default list is checked all the same.
        Err(settings) => {
            let list = root.join("spec/tasks.md");
            let of_list = list.exists().then(|| task_file::read(&list).and_then(|list| list.valid()).err());
            let all = [Some(settings.clone()), of_list.flatten()].into_iter().flatten();
            return Err(Problems::together(all).unwrap_or(settings));
        }
    };
    let (mut list, mut warnings) = (None, vec![]);
    if run.has_tasks() {
        let path = run.layout.tasks();
        let (tasks, of_list) = task_file::read(&path)?.valid()?;
        list = Some((path, tasks.tasks().len()));
        warnings = of_list;
    }
    warnings.extend(run.settings.warnings);
    Ok(checked(list, run.settings.file, warnings))
}
