//! What a gate lets judge: the folders whose programs are trusted, the values of variables that steer them, and the scripts
//! of the project as they are in the trusted commit.

use super::record::Trusted;
use super::site::Site;
use super::source::{internal, is_ci};
use crate::Failure;
use crate::author;
use crate::project::Project;
use countersign_core::check::Check;
use countersign_core::digest::Digest;
use countersign_engine::config::{Config, ReviewerKind};
use countersign_engine::engine::{GateSurroundings, Surroundings};
use countersign_engine::git::{self, CommitFiles, Git, is_repository};
use countersign_engine::installed::{TRUSTED_FOLDERS, TrustedPlaces, folder_to_record};
use countersign_engine::programs::{gate_environment, needs_trust};
use countersign_engine::scratch::Scratch;
use countersign_engine::stamp::Around;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HOME: &str = "HOME";
const PATH: &str = "PATH";
/// Where the trusted files are kept, below the home of the user.
const CACHE: &str = ".cache/countersign/trusted";

/// The value of a variable that steers. One with a password is kept as its digest alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    pub digest: Digest,
}

/// The programs and scripts of a gate.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    environment: Vec<(OsString, OsString)>,
    folders: Vec<PathBuf>,
    /// Those that may be open to all accounts: of the `PATH` of a job of CI, as caches of tools are.
    shared: Vec<PathBuf>,
    checkout: Option<CommitFiles>,
    /// Keeps the files where they have no better place.
    _scratch: Option<Arc<Scratch>>,
}

impl Programs {
    /// What surrounds the programs that judge the work below a folder.
    pub(super) fn surroundings(&self, root: &Path) -> Surroundings {
        let judged = worktree(root);
        let places = TrustedPlaces::new(judged, self.folders.iter().cloned()).shared(self.shared.clone());
        let gate = Some(GateSurroundings {
            places,
            scripts: self.checkout.as_ref().map(|checkout| checkout.files.clone()),
            stamp: self.checkout.as_ref().map(|checkout| checkout.stamp.clone()),
        });
        Surroundings { environment: self.environment.clone(), gate }
    }
}

fn worktree(root: &Path) -> &Path {
    root.ancestors().find(|folder| is_repository(folder)).unwrap_or(root)
}

/// The variables whose values a person trusts now: those that are known to steer programs, those that the person names, and
/// those that were named before. One of these that is not set keeps its earlier value.
pub(super) fn variables(
    named: &[String],
    before: Option<&Trusted>,
) -> Result<BTreeMap<String, Steered>, Failure> {
    let is_set = |name: &String| std::env::var(name).is_ok_and(|value| !value.is_empty());
    for name in named {
        let is_ours = matches!(name.as_str(), HOME | "PATH") || name.starts_with("COUNTERSIGN_");
        if is_ours || !is_set(name) {
            let why = if is_ours { "gates handle it themselves" } else { "it is not set to a text" };
            return Err(Failure::usage(format!("the variable {name} cannot be kept: {why}")));
        }
    }
    let before = before.iter().flat_map(|before| &before.variables);
    let before: BTreeMap<_, _> = before.filter(|(name, _)| !needs_trust(name)).collect();
    let is_wanted = |name: &String| needs_trust(name) || named.contains(name) || before.contains_key(name);
    let named = |(name, value): (OsString, OsString)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let digest = Digest::of(value.as_bytes());
        let is_secret = value.contains('@') || name.contains("HEADERS");
        let steered = Steered { value: (!is_secret).then(|| value.clone()), digest };
        (is_wanted(&name) && !value.is_empty()).then_some((name, steered))
    };
    let now: Vec<_> = std::env::vars_os().filter_map(named).collect();
    let mut all: BTreeMap<_, _> =
        before.iter().map(|(name, steered)| ((*name).clone(), (*steered).clone())).collect();
    all.extend(now);
    Ok(all)
}

/// The environment of a gate's programs, and a sentence about the variables that were not used.
fn environment(
    trusted: Option<&Trusted>,
    is_job: bool,
    config: &Config,
) -> (Vec<(OsString, OsString)>, Option<String>) {
    let current: Vec<_> = std::env::vars_os().collect();
    if is_job {
        return (current, None);
    }
    let value = |name: &str, steered: &Steered| -> Option<OsString> {
        let now = || std::env::var(name).ok().filter(|now| Digest::of(now.as_bytes()) == steered.digest);
        steered.value.clone().or_else(now).map(Into::into)
    };
    let recorded = trusted.map(|trusted| &trusted.variables);
    let all = recorded.into_iter().flatten();
    let mut known: Vec<_> = all.map(|(name, steered)| (name.into(), value(name, steered))).collect();
    let home = trusted.map_or_else(own_home, |trusted| trusted.home.clone());
    known.extend(home.map(|home| (HOME.into(), Some(home.into()))));
    let (mut environment, ignored) = gate_environment(&current, &known);
    if let Some(path) = trusted.and_then(|trusted| trusted.path.as_ref()) {
        put_first(path, &mut environment);
    }
    // The configuration, which is trusted, names the variables with keys of its services.
    let is_key = |name: &str| {
        config.reviewers.iter().any(|reviewer| match &reviewer.kind {
            ReviewerKind::Program(program) => program.key_env.as_deref() == Some(name) && !needs_trust(name),
            _ => false,
        })
    };
    let is_there = |name: &OsString| environment.iter().any(|(known, _)| known == name);
    let keys = current.into_iter().filter(|(name, _)| name.to_str().is_some_and(is_key) && !is_there(name));
    let keys: Vec<_> = keys.collect();
    environment.extend(keys);
    let words = format!("{} not used: no person trusted their values", ignored.join(", "));
    (environment, (!ignored.is_empty()).then_some(words))
}

/// Puts the folders of a `PATH` in front of those of the environment, so that the caller does not choose between trusted ones.
fn put_first(path: &str, environment: &mut Vec<(OsString, OsString)>) {
    let own = environment.iter().position(|(name, _)| name == PATH).map(|at| environment.remove(at).1);
    let own = own.unwrap_or_default();
    let folders = std::env::split_paths(path).chain(std::env::split_paths(&own));
    // A name that cannot stand in a list was in none.
    environment.push((PATH.into(), std::env::join_paths(folders).unwrap_or_else(|_| path.into())));
}

/// The home of a user who has trusted nothing yet. An agent may have set the variable.
fn own_home() -> Option<PathBuf> {
    let set = std::env::var_os(HOME).map(PathBuf::from).filter(|home| home.is_absolute());
    if author::is_agent() { author::home() } else { set }
}

/// The home of the user who trusted the project.
pub(super) fn home(trusted: Option<&Trusted>) -> Option<PathBuf> {
    trusted.and_then(|trusted| trusted.home.clone()).or_else(own_home)
}

/// The programs of a gate, and what was not used.
pub(super) async fn find(
    site: &Site,
    project: &Project,
    trusted: Option<&Trusted>,
    commit: Option<&str>,
    is_job: bool,
) -> Result<(Programs, Option<String>), Failure> {
    let (environment, ignored) = environment(trusted, is_job, &project.config);
    let judged = site.worktree.as_deref().unwrap_or(&site.root);
    let mut folders = trusted.map(|trusted| trusted.folders.clone()).unwrap_or_default();
    let mut shared = vec![];
    if is_job {
        let all = path_folders(judged);
        // The environment of the caller is trusted, and with a folder of links what they lead to beside it.
        let around = |folder: &PathBuf| {
            let above = folder.parent().filter(|above| above.parent().is_some());
            above.filter(|_| folder.ends_with("bin") || folder.ends_with(".bin")).map(Path::to_owned)
        };
        folders.extend(all.iter().filter_map(around));
        folders.extend(all);
        if is_ci() {
            shared = folders.clone();
            shared.extend(
                std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).filter_map(tools),
            );
        }
    }
    // Who may name a reviewer has named its program.
    folders.extend(project.config.reviewer.as_deref().and_then(named_program));
    let mut programs = Programs { environment, folders, shared, checkout: None, _scratch: None };
    if let (Some(commit), Some(top)) = (commit, &site.worktree)
        && names_a_file(project, top, commit).await?
    {
        let git = Git::at(top);
        let kept = match home(trusted).map(|home| home.join(CACHE)) {
            Some(cache) => {
                let folder = cache_folder(&cache, &git, commit);
                let is_new = !folder.exists();
                let kept = git.check_out(commit, &folder, Around::Shared).await.ok();
                if is_new {
                    git::remove_unused(&cache);
                }
                kept
            }
            None => None,
        };
        match kept {
            Some(kept) => programs.checkout = Some(kept),
            None => {
                // A folder that cannot be written, as in a sandbox.
                let scratch =
                    Scratch::shielded("trusted").map_err(|error| Failure::internal(error.to_string()))?;
                let files = git.check_out(commit, &scratch.path().join("checkout"), Around::Ours(1)).await;
                programs.checkout = Some(files.map_err(internal)?);
                programs._scratch = Some(Arc::new(scratch));
            }
        }
    }
    Ok((programs, ignored))
}

/// The folder of tools that a folder of the `PATH` belongs to: `x` for `x/bin`.
fn tools(folder: PathBuf) -> Option<PathBuf> {
    let real = folder.canonicalize().ok().filter(|_| folder.is_absolute())?;
    let around = real.parent().filter(|around| real.ends_with("bin") && around.parent().is_some());
    Some(around.map(Path::to_owned).unwrap_or(real))
}

/// The folder for the files of a commit.
fn cache_folder(cache: &Path, git: &Git, commit: &str) -> PathBuf {
    let place = Digest::of(git.folder().to_string_lossy().as_bytes());
    cache.join(format!("{}-{commit}", place.short()))
}

/// The program of `command:PROGRAM`, where it is a path of its own.
fn named_program(reviewer: &str) -> Option<PathBuf> {
    let program = reviewer.strip_prefix("command:").or_else(|| reviewer.strip_prefix("text:"))?;
    let program = Path::new(program.split_whitespace().next()?);
    program.is_absolute().then(|| program.to_owned())
}

/// Whether a command of the configuration names a file of the worktree at `top`.
async fn names_a_file(project: &Project, top: &Path, commit: &str) -> Result<bool, Failure> {
    let config = &project.config;
    let mut words: Vec<&str> = vec![];
    let split = |text: &'_ str| -> Vec<String> {
        let is_end = |c: char| c.is_whitespace() || "'\"`;&|()<>=,$".contains(c);
        text.split(is_end).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut texts: Vec<String> = vec![];
    for reviewer in &config.reviewers {
        if let ReviewerKind::Command(command) = &reviewer.kind {
            texts.extend(command.argv.iter().flat_map(|word| [vec![word.clone()], split(word)].concat()));
        }
    }
    for criterion in config.rules.iter().flat_map(|rule| &rule.criteria) {
        if let Some(Check::Run(run)) = &criterion.check {
            texts.extend(split(&run.command));
        }
    }
    texts.extend(config.reviewer.iter().flat_map(|reviewer| split(reviewer.trim_start_matches("command:"))));
    let service = &config.service;
    texts.extend([&service.test, &service.lint].into_iter().flatten().flat_map(|text| split(text)));
    words.extend(texts.iter().map(String::as_str));
    let root = project.root.path();
    // A link in the worktree counts, wherever it leads; so does a link from elsewhere that leads into the worktree.
    let real_top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let is_inside = |path: &Path| path.starts_with(top) || path.starts_with(&real_top);
    let is_own = |word: &str| {
        let path = root.join(word);
        path.is_file() && (is_inside(&path) || path.canonicalize().is_ok_and(|real| is_inside(&real)))
    };
    // `python3 -m judge` names a module.
    if words.iter().any(|word| *word == "-m" || is_own(word)) {
        return Ok(true);
    }
    let git = Git::at(root);
    for word in words.iter().filter(|word| !word.starts_with(['-', '/', ':']) && !word.contains("..")) {
        if git.id_at(commit, word).await.map_err(internal)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The folders of the `PATH` that are outside of the work and of the system, or the folder of the package manager or version
/// manager that they belong to: the programs of `~/.x/bin` are links into `~/.x`, or other versions are beside them.
pub(super) fn path_folders(judged: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os(PATH).unwrap_or_default();
    let home = std::env::var_os(HOME).map(PathBuf::from);
    let outside = |folder: &PathBuf| {
        let real = folder.canonicalize().ok();
        let below = |top: &Path| real.as_deref().is_some_and(|real| real.starts_with(top));
        folder.is_absolute()
            && real.is_some()
            && !below(judged)
            && !TRUSTED_FOLDERS.iter().any(|known| below(Path::new(known)))
    };
    let managed = |folder: PathBuf| folder_to_record(&folder.join("program"), home.as_deref());
    std::env::split_paths(&path).filter(outside).filter_map(managed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_person_comes_first() {
        let mut environment = vec![("PATH".into(), "/fake:/usr/bin".into()), ("A".into(), "b".into())];
        put_first("/home/ann/.local/bin:/usr/bin", &mut environment);
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        assert_eq!(path.unwrap(), "/home/ann/.local/bin:/usr/bin:/fake:/usr/bin");
    }
}
