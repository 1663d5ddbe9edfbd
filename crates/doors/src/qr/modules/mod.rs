//! The modules: what a phase looks at. Six are built in; a project overrides them by name or adds its own.

mod written;

use super::Phase;
use super::plan;
use countersign_core::criterion::Severity;
use countersign_engine::yaml::{Diagnostic, FileBytes, Problems, quoted, read_file, unreadable};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub const FOLDER: &str = ".countersign/qr/modules";
const FILES_MAX: usize = 200;

const BUILT_IN: [(&str, &str); 6] = [
    ("plan_completeness.yml", include_str!("plan_completeness.yml")),
    ("plan_code.yml", include_str!("plan_code.yml")),
    ("plan_docs.yml", include_str!("plan_docs.yml")),
    ("post_impl_code.yml", include_str!("post_impl_code.yml")),
    ("post_impl_doc.yml", include_str!("post_impl_doc.yml")),
    ("reconciliation.yml", include_str!("reconciliation.yml")),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    Phase(Phase),
    Reconciliation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub check: String,
    pub severity: Severity,
    /// The kind of plan parts of which each gets an item of its own.
    pub each: Option<plan::Kind>,
}

/// One module. One of a project replaces the built-in one with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    pub when: When,
    /// The instructions for decomposing and verifying.
    pub looks_at: String,
    pub checks: Vec<Template>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modules(Vec<Module>);

impl Modules {
    /// The modules of a project: its own in `folder`, over the built-in ones.
    pub fn of(folder: &Path) -> Result<Self, Problems> {
        let (files, unread): (Vec<_>, Vec<_>) =
            paths(folder)?.iter().map(|path| read_file(path)).partition(Result::is_ok);
        match Problems::together(unread.into_iter().filter_map(Result::err).map(Problems::from)) {
            Some(problems) => Err(problems),
            None => Self::over(&files.into_iter().flatten().collect::<Vec<_>>()),
        }
    }

    /// A project's files over the built-in ones. Everything wrong with any is reported.
    fn over(files: &[FileBytes]) -> Result<Self, Problems> {
        let built_in = BUILT_IN.iter().map(|(name, text)| {
            written::read(&FileBytes { path: name.into(), bytes: text.as_bytes().to_vec() })
        });
        let mut modules = built_in.map(|read| Ok(read?.0)).collect::<Result<Vec<Module>, Problems>>()?;
        let mut problems = vec![];
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
                let words = format!("{} already has the module {}", other.display(), quoted(&module.name));
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

    pub(super) fn used(&self, when: When) -> impl Iterator<Item = &Module> {
        self.0.iter().filter(move |module| module.when == when)
    }
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>, Problems> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(unreadable(folder, &error.to_string()).into()),
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = paths.map_err(|error| unreadable(folder, &error.to_string()))?;
    paths.retain(|path| {
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml")
    });
    paths.sort();
    if paths.len() > FILES_MAX {
        return Err(unreadable(folder, &format!("it has more than {FILES_MAX} modules")).into());
    }
    Ok(paths)
}

#[cfg(test)]
mod tests;
