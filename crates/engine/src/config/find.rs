//! The only file of this module that reads the disk: finds the project and reads its files.

use super::settings::Origin;
use crate::yaml::{Diagnostic, FileBytes, Problems, read_file, reason, unreadable};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub const FILE_NAME: &str = "countersign.yml";

/// The variables that matter here. Empty ones count as absent; relative paths begin where the command was started.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `COUNTERSIGN_ROOT`
    pub root: Option<PathBuf>,
    /// `COUNTERSIGN_CONFIG`
    pub config: Option<PathBuf>,
    /// `COUNTERSIGN_REVIEWER`
    pub reviewer: Option<String>,
    pub xdg_config_home: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--reviewer`
    pub reviewer: Option<String>,
}

/// Everything the configuration is made of, read and not yet parsed. To judge by an older file, replace `project`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    pub root: PathBuf,
    pub root_origin: Origin,
    pub project: Option<FileBytes>,
    pub project_origin: Origin,
    /// Why the project's file cannot be read, though it exists. It counts unless another file replaces it.
    pub project_problem: Option<Diagnostic>,
    pub user: Option<FileBytes>,
}

/// Finds the project around `start` (an absolute path) and reads its files.
pub fn gather(start: &Path, flags: &Flags, environment: &Environment) -> Result<Gathered, Problems> {
    let mut gathered = gather_readable(start, flags, environment)?;
    match gathered.project_problem.take() {
        Some(problem) => Err(problem.into()),
        None => Ok(gathered),
    }
}

/// Like [`gather`], for callers that judge by the file of a commit: an unreadable file in the working tree is only noted.
pub fn gather_readable(start: &Path, flags: &Flags, environment: &Environment) -> Result<Gathered, Problems> {
    let (root, root_origin) = root(start, environment)?;
    let named = [
        (flags.config.as_ref(), Origin::Flag("--config")),
        (environment.config.as_ref(), Origin::Environment("COUNTERSIGN_CONFIG")),
    ];
    let named = named.into_iter().find_map(|(path, origin)| Some((given(path)?, origin)));
    let (project, project_origin) = match named {
        Some((path, origin)) => (Ok(Some(read(&start.join(path))?)), origin),
        None => (read_if_there(&root.join(FILE_NAME)), Origin::Default),
    };
    let (project, project_problem) = match project {
        Ok(project) => (project, None),
        Err(problem) => (None, Some(problem)),
    };
    let user = match user_file(environment) {
        Some(path) => read_if_there(&path)?,
        None => None,
    };
    Ok(Gathered { root, root_origin, project, project_origin, project_problem, user })
}

/// The root of the project around `start` (an absolute path), whatever its files hold.
pub fn find_root(start: &Path, environment: &Environment) -> Result<PathBuf, Problems> {
    Ok(root(start, environment)?.0)
}

fn given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
}

fn root(start: &Path, environment: &Environment) -> Result<(PathBuf, Origin), Diagnostic> {
    if let Some(path) = given(environment.root.as_ref()) {
        let path = start.join(path);
        if !path.is_dir() {
            return Err(unreadable(&path, "COUNTERSIGN_ROOT must name a folder")
                .with_hint("set COUNTERSIGN_ROOT to the root folder of the project, or unset it"));
        }
        return Ok((path, Origin::Environment("COUNTERSIGN_ROOT")));
    }
    let nearest = |name: &str| -> Result<Option<&Path>, Diagnostic> {
        for folder in start.ancestors() {
            if is_there(&folder.join(name))? {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    };
    let found = match nearest(FILE_NAME)? {
        None => nearest(".git")?,
        found => found,
    };
    Ok((found.unwrap_or(start).to_owned(), Origin::Default))
}

/// The user's own file. A relative `XDG_CONFIG_HOME` does not count, as its specification says.
pub fn user_file(environment: &Environment) -> Option<PathBuf> {
    let absolute = |path: Option<&PathBuf>| given(path).filter(|path| path.is_absolute()).map(Path::to_owned);
    let folder = absolute(environment.xdg_config_home.as_ref())
        .or_else(|| absolute(environment.home.as_ref()).map(|home| home.join(".config")))?;
    Some(folder.join("countersign").join("config.yml"))
}

/// Whether the path exists. A broken link counts: it is a mistake to report, not to skip.
fn is_there(path: &Path) -> Result<bool, Diagnostic> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(explained(unreadable(path, &reason(&error)))),
    }
}

fn read_if_there(path: &Path) -> Result<Option<FileBytes>, Diagnostic> {
    is_there(path)?.then(|| read(path)).transpose()
}

fn read(path: &Path) -> Result<FileBytes, Diagnostic> {
    read_file(path).map_err(explained)
}

/// Says that it is the configuration, and what to do.
fn explained(problem: Diagnostic) -> Diagnostic {
    let message = format!("the configuration file {}", problem.message);
    Diagnostic { message, ..problem }
        .with_hint("name another file with --config, or run `countersign init` to write one")
}
