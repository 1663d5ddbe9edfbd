//! The part of `validate` on tasks: the list and the settings of its runs.

use crate::run_project::RunProject;
use countersign_doors::run::tasks_file;
use countersign_engine::config::{Diagnostic, Problems};
use std::path::{Path, PathBuf};

/// What is there, and nothing wrong with it.
#[derive(Default)]
pub struct Tasks {
    /// The list and how many tasks it has.
    pub list: Option<(PathBuf, usize)>,
    /// The settings.
    pub settings: Option<PathBuf>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Diagnostic>,
}

impl Tasks {
    /// In lines, for people.
    pub fn words(&self) -> Vec<String> {
        let list = self.list.iter().map(|(path, count)| format!("{}: {count} tasks: valid", path.display()));
        list.chain(self.settings.iter().map(|path| super::is_valid(path))).collect()
    }

    /// Whether there is anything.
    pub fn is_there(&self) -> bool {
        self.list.is_some() || self.settings.is_some()
    }
}

/// Checks the list and the settings below a folder, with the section of this `countersign.yml`.
pub fn check(root: &Path, configuration: Option<&Path>) -> Result<Tasks, Problems> {
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
    let mut tasks = Tasks { list: None, settings: run.settings.file.clone(), warnings: vec![] };
    if run.has_tasks() {
        let path = run.layout.tasks();
        let (list, warnings) = tasks_file::read(&path)?.valid()?;
        tasks.list = Some((path, list.tasks().len()));
        tasks.warnings = warnings;
    }
    tasks.warnings.extend(run.settings.warnings);
    Ok(tasks)
}
