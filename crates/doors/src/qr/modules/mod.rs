//! The modules: what a phase looks at, as data. Six come with the program; a project overrides them by name, or
//! adds its own.

mod written;

use super::Phase;
use super::plan;
use countersign_core::criterion::Severity;
use countersign_engine::yaml::{Diagnostic, FileBytes, Problems, quoted, read_file, unreadable};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where a project keeps its own.
pub const FOLDER: &str = ".countersign/qr/modules";
/// How many files a project may have there.
pub const FILES_MAX: usize = 200;

/// Those that come with the program.
const BUILT_IN: [(&str, &str); 6] = [
    ("plan_completeness.yml", include_str!("plan_completeness.yml")),
    ("plan_code.yml", include_str!("plan_code.yml")),
    ("plan_docs.yml", include_str!("plan_docs.yml")),
    ("post_impl_code.yml", include_str!("post_impl_code.yml")),
    ("post_impl_doc.yml", include_str!("post_impl_doc.yml")),
    ("reconciliation.yml", include_str!("reconciliation.yml")),
];

/// When a module is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// In a phase.
    Phase(Phase),
    /// After all of them.
    Reconciliation,
}

/// A check that items are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What is to be verified.
    pub check: String,
    /// How much it weighs.
    pub severity: Severity,
    /// Whether each part of the plan of this kind gets an item of its own.
    pub each: Option<plan::Kind>,
}

/// What one module looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name; a project's own takes the place of a built-in one with the same name.
    pub name: String,
    /// When it is used.
    pub when: When,
    /// What it looks at, for whoever decomposes and verifies.
    pub looks_at: String,
    /// Its checks.
    pub checks: Vec<Template>,
}

/// All modules of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modules(pub Vec<Module>);

impl Modules {
    /// Those that come with the program.
    pub fn built_in() -> Result<Self, Problems> {
        Self::over(&[])
    }

    /// Those of a project: its own in `folder`, over those that come with the program.
    pub fn of(folder: &Path) -> Result<Self, Problems> {
        let mut files = vec![];
        let mut unread = vec![];
        for path in paths(folder)? {
            match read_file(&path) {
                Ok(file) => files.push(file),
                Err(problem) => unread.push(Problems::from(problem)),
            }
        }
        match Problems::together(unread) {
            Some(problems) => Err(problems),
            None => Self::over(&files),
        }
    }

    /// A project's files over those that come with the program. Everything wrong with any is reported.
    pub fn over(files: &[FileBytes]) -> Result<Self, Problems> {
        let mut modules: Vec<Module> = vec![];
        let mut problems = vec![];
        for (name, text) in BUILT_IN {
            let file = FileBytes { path: name.into(), bytes: text.as_bytes().to_vec() };
            match written::read(&file) {
                Ok((module, _)) => modules.push(module),
                Err(wrong) => problems.push(wrong),
            }
        }
        let mut own: Vec<(String, PathBuf)> = vec![];
        for file in files {
            let (module, place) = match written::read(file) {
                Ok(read) => read,
                Err(wrong) => {
                    problems.push(wrong);
                    continue;
                }
            };
            if let Some((_, other)) = own.iter().find(|(name, _)| *name == module.name) {
                let words = format!("{} has the module {} already", other.display(), quoted(&module.name));
                problems.push(Diagnostic::new("duplicate-name", place, words).into());
                continue;
            }
            own.push((module.name.clone(), file.path.clone()));
            match modules.iter_mut().find(|known| known.name == module.name) {
                Some(known) => *known = module,
                None => modules.push(module),
            }
        }
        match Problems::together(problems) {
            Some(problems) => Err(problems),
            None => Ok(Self(modules)),
        }
    }

    /// The modules that are used then.
    pub fn used(&self, when: When) -> impl Iterator<Item = &Module> {
        self.0.iter().filter(move |module| module.when == when)
    }
}

/// The files of a folder, in order; none where there is no folder.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, Problems> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(unreadable(folder, &error.to_string()).into()),
    };
    let mut paths = vec![];
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, &error.to_string()))?.path();
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.len() > FILES_MAX {
        return Err(unreadable(folder, &format!("it has more than {FILES_MAX} modules")).into());
    }
    Ok(paths)
}

#[cfg(test)]
mod tests;
