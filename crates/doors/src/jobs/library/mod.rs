//! The jobs of a project. A job is read again only when one of its files changed.

mod known;
#[cfg(test)]
mod tests;

use super::job::{Job, Lost};
use countersign_engine::yaml::{
    Diagnostic, MAX_FILE_BYTES, Place, Problems, Source, quoted, read_bounded, unreadable,
};
use known::Known;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub const JOBS_FOLDER: &str = ".deepwork/jobs";
/// The variable with more such folders, separated by colons.
pub const FOLDERS_VARIABLE: &str = "DEEPWORK_ADDITIONAL_JOBS_FOLDERS";
const FILE_NAME: &str = "job.yml";

pub fn folders_of(list: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}

#[derive(Debug)]
pub struct Library {
    /// The folders of the project in which `.deepwork/jobs` may be, the nearest first, the root last.
    bases: Vec<PathBuf>,
    /// Folders of jobs beside those.
    more_folders: Vec<PathBuf>,
    known: Mutex<HashMap<PathBuf, Known>>,
}

#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub jobs: Vec<Arc<Job>>,
    pub errors: Vec<Unreadable>,
    pub warnings: Vec<Diagnostic>,
    /// What reviewers are told, with its place, and the folder of its job.
    pub guidance: Vec<(Place, String, PathBuf)>,
}

#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The name of its folder: the name in the file may be the mistake.
    pub job_name: String,
    pub job_dir: PathBuf,
    /// The workflows that cannot be used; none where that is the whole job.
    pub workflows: Vec<String>,
    pub problems: Problems,
}

impl Library {
    /// The jobs of `here` and of the folders above it up to this root, then those of more folders.
    pub fn new(root: &Path, here: &Path, more_folders: Vec<PathBuf>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (top, here) = (real(root), real(here));
        let within = here.ancestors().take_while(|folder| folder.starts_with(&top) && **folder != *top);
        let bases = within.chain([root]).map(Path::to_owned).collect();
        Self { bases, more_folders, known: Mutex::default() }
    }

    /// The folder that the paths of outputs begin in: the nearest with jobs, otherwise the root.
    pub fn base(&self) -> &Path {
        let has_jobs = |base: &&PathBuf| base.join(JOBS_FOLDER).is_dir();
        self.bases.iter().find(has_jobs).or(self.bases.last()).map_or(Path::new(""), PathBuf::as_path)
    }

    /// Where jobs are looked for, in order.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.bases.iter().map(|base| base.join(JOBS_FOLDER)).chain(self.more_folders.iter().cloned())
    }

    /// Reads all jobs. Where two folders have the same name, the first counts.
    pub fn look(&self) -> Listing {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = HashMap::with_capacity(known.len());
        let mut listing = Listing::default();
        let mut taken = HashSet::new();
        for (place, folder) in self.folders().enumerate() {
            let names = match names_in(&folder) {
                Ok(names) => names,
                Err(error) => {
                    // A project need not have jobs; a folder that was named must exist.
                    listing.no_folder(&folder, &error, place >= self.bases.len());
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
        listing.jobs.sort_by(|a, b| a.name.cmp(&b.name));
        listing.errors.sort_by(|a, b| a.job_name.cmp(&b.job_name));
        listing
    }
}

/// The names in a folder, without hidden ones.
fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// The text of a file, or a message that follows its name. A link out of the folder could show any file of the user.
pub(super) fn text(folder: &Path, path: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "does not exist".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let real = folder.join(path).canonicalize().map_err(unreadable)?;
    if !real.starts_with(folder.canonicalize().map_err(unreadable)?) {
        return Err("is outside the job's folder".to_owned());
    }
    let bytes = read_bounded(&real).map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("is larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}

impl Listing {
    fn add(&mut self, folder: &OsStr, dir: &Path, known: &Known) {
        let problems = match &known.reading {
            Err(problems) => problems.clone(),
            Ok(read) => match self.jobs.iter().find(|job| job.name == read.job.name) {
                None => {
                    self.jobs.push(Arc::clone(&read.job));
                    self.warnings.extend(read.warnings.iter().cloned());
                    let texts = read.guidance.iter().cloned();
                    self.guidance.extend(texts.map(|(place, text)| (place, text, dir.to_owned())));
                    if let Some(Lost { workflows, problems }) = read.lost.clone() {
                        self.unreadable(folder, dir, workflows, problems);
                    }
                    return;
                }
                Some(first) => {
                    let (dir, name) = (first.dir.display(), quoted(&first.name));
                    let message = format!("the job in {dir} already has the name {name}");
                    Diagnostic::new("duplicate-name", read.name.clone(), message)
                        .with_hint("give one of the two another name")
                        .into()
                }
            },
        };
        self.unreadable(folder, dir, vec![], problems);
    }

    fn unreadable(&mut self, name: &OsStr, dir: &Path, workflows: Vec<String>, problems: Problems) {
        let job_name = name.to_string_lossy().into_owned();
        self.errors.push(Unreadable { job_name, job_dir: dir.to_owned(), workflows, problems });
    }

    fn no_folder(&mut self, folder: &Path, error: &io::Error, was_named: bool) {
        match (error.kind(), was_named) {
            (ErrorKind::NotFound, false) => {}
            (ErrorKind::NotFound, true) => {
                let place = Place::start_of(&Source::new(folder, ""));
                let message = format!("{FOLDERS_VARIABLE} names this folder, which does not exist");
                self.warnings.push(Diagnostic::new("no-folder", place, message));
            }
            _ => {
                let name = folder.file_name().unwrap_or(folder.as_os_str());
                let hint = "this must be a folder with one folder for each job";
                let problem = unreadable(folder, &error.to_string()).with_hint(hint);
                self.unreadable(name, folder, vec![], problem.into());
            }
        }
    }
}
