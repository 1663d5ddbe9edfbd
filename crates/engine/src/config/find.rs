//! The one file of this room that looks at the disk: where the project is, and what its files hold.

use super::settings::Origin;
use crate::yaml::{Diagnostic, FileBytes, Problems, read_file, unreadable};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of a project's configuration.
pub const FILE_NAME: &str = "countersign.yml";

/// The variables that matter here, as the binary read them. Empty ones count as absent; relative paths begin
/// where the command was started.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `COUNTERSIGN_ROOT`
    pub root: Option<PathBuf>,
    /// `COUNTERSIGN_CONFIG`
    pub config: Option<PathBuf>,
    /// `COUNTERSIGN_REVIEWER`
    pub reviewer: Option<String>,
    /// `XDG_CONFIG_HOME`
    pub xdg_config_home: Option<PathBuf>,
    /// `HOME`
    pub home: Option<PathBuf>,
}

/// The flags that matter here.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--reviewer`
    pub reviewer: Option<String>,
}

/// Everything the configuration is made of, read and not yet looked at.
///
/// To judge by an older state of the project's file, put those bytes into `project`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The project's root.
    pub root: PathBuf,
    /// Who said so.
    pub root_origin: Origin,
    /// The project's file, if there is one.
    pub project: Option<FileBytes>,
    pub project_origin: Origin,
    /// Why the project's file cannot be read, though it is there. Unless another takes its place, there is no
    /// configuration.
    pub project_problem: Option<Diagnostic>,
    /// The user's own file, if there is one.
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

/// The same for those who judge by the file of a commit: that the one in the working tree cannot be read is noted, and
/// matters only where no other takes its place.
pub fn gather_readable(start: &Path, flags: &Flags, environment: &Environment) -> Result<Gathered, Problems> {
    let (root, root_origin) = root(start, environment)?;
    let named = [
        (flags.config.as_ref(), Origin::Flag("--config")),
        (environment.config.as_ref(), Origin::Environment("COUNTERSIGN_CONFIG")),
    ];
    let named = named.into_iter().find_map(|(path, origin)| Some((given(path)?, origin)));
    let (project, project_origin) = match named {
        Some((path, origin)) => (Ok(Some(read_file(&start.join(path))?)), origin),
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
            return Err(unreadable(&path, "COUNTERSIGN_ROOT names no folder"));
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
fn user_file(environment: &Environment) -> Option<PathBuf> {
    let absolute = |path: Option<&PathBuf>| given(path).filter(|path| path.is_absolute()).map(Path::to_owned);
    let folder = absolute(environment.xdg_config_home.as_ref())
        .or_else(|| absolute(environment.home.as_ref()).map(|home| home.join(".config")))?;
    Some(folder.join("countersign").join("config.yml"))
}

/// Whether something of this name is there, be it a broken link: that is a mistake to report, not to pass over.
fn is_there(path: &Path) -> Result<bool, Diagnostic> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

fn read_if_there(path: &Path) -> Result<Option<FileBytes>, Diagnostic> {
    is_there(path)?.then(|| read_file(path)).transpose()
}
