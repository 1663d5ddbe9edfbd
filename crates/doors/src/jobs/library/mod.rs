//! The jobs of a project: found, read once, and read again only when one of their files changed.

mod known;
#[cfg(test)]
mod tests;

use super::job::Job;
use countersign_engine::yaml::{Diagnostic, Place, Problems, Source, quoted, unreadable};
use known::Known;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a project keeps its jobs, each in a folder of its own.
pub const JOBS_FOLDER: &str = ".deepwork/jobs";
/// The variable that names more such folders, as a list with colons.
pub const FOLDERS_VARIABLE: &str = "DEEPWORK_ADDITIONAL_JOBS_FOLDERS";
/// The file in the folder of a job.
pub const FILE_NAME: &str = "job.yml";

/// The folders of a list with colons, without empty ones.
pub fn folders_of(list: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The jobs of a project. May be asked by several threads at once.
#[derive(Debug)]
pub struct Library {
    folders: Vec<PathBuf>,
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// What there is.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The jobs, by name.
    pub jobs: Vec<Arc<Job>>,
    /// Jobs that cannot be used, by name.
    pub errors: Vec<Unreadable>,
    /// What is allowed and will not work well.
    pub warnings: Vec<Diagnostic>,
}

/// A job that cannot be used.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The name of its folder: the one in its file may be what is wrong.
    pub job_name: String,
    /// Its folder.
    pub job_dir: PathBuf,
    /// All that is wrong with it.
    pub problems: Problems,
}

impl Library {
    /// The jobs of the project with this root, then those of more folders. Nothing is read yet.
    pub fn new(root: &Path, more_folders: Vec<PathBuf>) -> Self {
        let folders = std::iter::once(root.join(JOBS_FOLDER)).chain(more_folders).collect();
        Self { folders, known: Mutex::default() }
    }

    /// What there is now. Where two folders have the same name, the first is the job.
    pub fn look(&self) -> Listing {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = HashMap::with_capacity(known.len());
        let mut listing = Listing::default();
        let mut taken = HashSet::new();
        for (place, folder) in self.folders.iter().enumerate() {
            let names = match names_in(folder) {
                Ok(names) => names,
                Err(error) => {
                    // A project need not have jobs; a folder that somebody named should be there.
                    listing.no_folder(folder, &error, place > 0);
                    continue;
                }
            };
            for name in names {
                let dir = folder.join(&name);
                if taken.contains(&name) {
                    continue;
                }
                let Some(job) = Known::renew(known.remove(&dir), &dir) else { continue };
                listing.add(&name, &dir, &job);
                current.insert(dir, job);
                taken.insert(name);
            }
        }
        *known = current;
        listing.sorted()
    }
}

/// The names of what is in a folder, hidden things left out.
fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

impl Listing {
    fn add(&mut self, folder: &OsStr, dir: &Path, known: &Known) {
        let problems = match &known.reading {
            Err(problems) => problems.clone(),
            Ok(read) => match self.jobs.iter().find(|job| job.name == read.job.name) {
                None => {
                    self.jobs.push(Arc::clone(&read.job));
                    self.warnings.extend(read.warnings.iter().cloned());
                    return;
                }
                Some(first) => {
                    let message = format!(
                        "the job in {} is called {} already",
                        first.dir.display(),
                        quoted(&first.name)
                    );
                    Diagnostic::new("duplicate-name", read.name.clone(), message)
                        .with_hint("give one of the two another name")
                        .into()
                }
            },
        };
        let job_name = folder.to_string_lossy().into_owned();
        self.errors.push(Unreadable { job_name, job_dir: dir.to_owned(), problems });
    }

    fn no_folder(&mut self, folder: &Path, error: &io::Error, was_named: bool) {
        match (error.kind(), was_named) {
            (ErrorKind::NotFound, false) => {}
            (ErrorKind::NotFound, true) => {
                let place = Place::start_of(&Source::new(folder, ""));
                let warning =
                    Diagnostic::new("no-folder", place, format!("{FOLDERS_VARIABLE} names no folder"));
                self.warnings.push(warning);
            }
            _ => {
                let name = folder.file_name().unwrap_or(folder.as_os_str());
                let problem = unreadable(folder, &error.to_string())
                    .with_hint("jobs are in a folder, each in one of its own");
                self.errors.push(Unreadable {
                    job_name: name.to_string_lossy().into_owned(),
                    job_dir: folder.to_owned(),
                    problems: problem.into(),
                });
            }
        }
    }

    fn sorted(mut self) -> Self {
        self.jobs.sort_by(|a, b| a.name.cmp(&b.name));
        self.errors.sort_by(|a, b| a.job_name.cmp(&b.job_name));
        self
    }
}
