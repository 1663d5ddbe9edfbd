//! Authority: a gate takes its configuration from where the author of the work cannot write, and says what it ignored.
//!
//! ```text
//! site (which project) ──► record (what a person trusted) ──► source (which files count now) ──► Project
//! ```
//!
//! A question (`countersign review`) obeys the files and flags of its caller; a gate does not. The first use of a gate
//! needs the word of a person, given by `countersign trust`.

mod base;
mod files;
mod programs;
mod record;
mod site;
mod source;
mod started;
pub mod trust;

pub use base::base;
pub use record::OwnCommand;
pub use source::Source;
pub(crate) use source::is_ci;
pub use started::started;

use crate::Failure;
use crate::author;
use crate::baseline;
use crate::project::{Project, environment};
use countersign_engine::config::{self, Environment, FILE_NAME, FileBytes, Flags, Gathered, Origin};
use countersign_engine::engine::Surroundings;
use countersign_engine::git::Git;
use countersign_engine::reviewer::checks;
use countersign_engine::yaml::read_bounded;
use programs::Programs;
use record::Trusted;
use site::Site;
use source::Files;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// By what a gate judges, and what it did not use.
#[derive(Clone, Debug)]
pub struct Authority {
    pub source: Source,
    /// The commit whose files are trusted; none outside of git and where only the built-in rules are.
    pub commit: Option<String>,
    /// The branch of the remote, as the remote confirmed it: what a change is compared with.
    pub tip: Option<String>,
    /// Whether this is a job of CI, whose caller is trusted.
    pub is_job: bool,
    /// Whether the caller chose the configuration or the reviewer. Other gates do not use them then.
    pub is_chosen: bool,
    /// What was ignored, and what could not be confirmed, in sentences for people.
    pub notices: Vec<String>,
    /// The variables that were not used. Agent programs set some themselves, so this is no news to their users.
    pub variables: Option<String>,
    /// What a person recorded.
    pub trusted: Option<Arc<Trusted>>,
    programs: Programs,
}

impl Authority {
    /// What surrounds the programs that judge the work below a folder.
    pub fn surroundings(&self, root: &Path) -> Surroundings {
        self.programs.surroundings(root)
    }

    /// The home of the user who trusted the project, where our own files are kept.
    pub fn home(&self) -> Option<PathBuf> {
        programs::home(self.trusted.as_deref())
    }
}

/// Where the flags of a gate come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagsFrom {
    /// Somebody typed them, perhaps an agent.
    Caller,
    /// The settings of an agent program: a file that decides how work is judged, like the configuration itself.
    Settings,
}

impl Project {
    /// The project of a gate: with the trusted configuration, whatever lies in the working tree.
    pub async fn for_gate(here: PathBuf, flags: &Flags, from: FlagsFrom) -> Result<Self, Failure> {
        let mut notices = vec![];
        let (flags, environment) = believed(flags, from, &environment(), author::mark(), &mut notices);
        let start = environment.root.as_ref().map_or_else(|| here.clone(), |root| here.join(root));
        let site = Site::find(&start).await?;
        notices.extend(site.restored.clone());
        let ledger = site.ledger.clone();
        let found = source::find(site).await;
        if let Some(ledger) = ledger {
            ledger.close().await;
        }
        let (site, found) = found?;
        let Files { source, commit, tip, configuration, user, trusted, is_job, notices: more } = found;
        notices.extend(more);
        let mut gathered = gathered(&site.root, configuration, user);
        let chosen = [&flags.config, &environment.config].into_iter().any(Option::is_some);
        let is_chosen = chosen || flags.reviewer.is_some() || environment.reviewer.is_some();
        let named = [
            (flags.config.as_ref(), Origin::Flag("--config")),
            (environment.config.as_ref(), Origin::Environment("COUNTERSIGN_CONFIG")),
        ];
        if let Some((path, origin)) = named.into_iter().find_map(|(path, origin)| Some((path?, origin))) {
            gathered.project = Some(named_file(&site, &here.join(path), commit.as_deref()).await?);
            gathered.project_origin = origin;
        } else if let Some(words) = differs(&site.root, gathered.project.as_ref(), &source)
            && !files::is_of_older_branch(&site, &source, &site.root.join(FILE_NAME)).await
        {
            notices.push(words);
        }
        let project = Self::of(here, &gathered, &flags, &environment)?;
        brings_first_rules(&site, &project, &gathered, &source)?;
        let (programs, variables) =
            programs::find(&site, &project, trusted.as_ref(), commit.as_deref(), is_job).await?;
        let surroundings = programs.surroundings(project.root.path());
        notices.extend(files::changed_scripts(&site, &project, &surroundings, &source).await);
        let baseline = match &commit {
            Some(commit) => baseline::of_commit(&Git::at(project.root.path()), commit).await?,
            None => Arc::default(),
        };
        notices.extend(baseline::not_used(project.root.path(), commit.as_deref()));
        let trusted = trusted.map(Arc::new);
        let authority =
            Authority { source, commit, tip, is_job, is_chosen, notices, variables, trusted, programs };
        Ok(Self { authority: Some(Arc::new(authority)), baseline, ..project })
    }

    /// Looks up what gates use here. A question is then asked as a gate asks it where nothing differs, and its answer says
    /// whether gates count it.
    pub async fn beside_gate(mut self) -> Self {
        if self.authority.as_ref().is_none_or(|authority| authority.is_chosen) {
            // Other gates do not see what this caller typed or set.
            let gate = Self::for_gate(self.here.clone(), &Flags::default(), FlagsFrom::Settings).await;
            let why = |failure: Failure| match failure.code {
                crate::Code::NotTrusted => "no person has trusted this project yet".to_owned(),
                _ => failure.message,
            };
            self.gate = Some(gate.map(Arc::new).map_err(why));
        }
        self
    }

    /// The commit whose files are trusted; none for a question.
    pub fn trusted_commit(&self) -> Option<&str> {
        self.authority.as_ref().and_then(|authority| authority.commit.as_deref())
    }

    /// What the gate did not use and could not confirm; nothing for a question.
    pub fn notices(&self) -> Vec<String> {
        let Some(authority) = &self.authority else { return vec![] };
        authority.notices.iter().cloned().chain(authority.variables.clone()).collect()
    }
}

/// The commit whose files are trusted here, also for a question; none before a person has trusted any.
pub async fn trusted_commit(project: &Project) -> Option<String> {
    source_of(project).await?.commit().map(str::to_owned)
}

/// Where gates take their files from here, also for a question; none before a person has trusted any.
pub async fn source_of(project: &Project) -> Option<Source> {
    if let Some(authority) = &project.authority {
        return Some(authority.source.clone());
    }
    let site = Site::find(project.root.path()).await.ok()?;
    let ledger = site.ledger.clone();
    let found = source::find(site).await;
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    Some(found.ok()?.1.source)
}

/// The flags and variables that count. An agent may type and set what it wants.
fn believed(
    flags: &Flags,
    from: FlagsFrom,
    environment: &Environment,
    mark: Option<String>,
    notices: &mut Vec<String>,
) -> (Flags, Environment) {
    let (keep_flags, keep_variables) = (mark.is_none() || from == FlagsFrom::Settings, mark.is_none());
    let variables = keep_variables && from == FlagsFrom::Caller;
    let given = [
        (flags.config.is_some() && !keep_flags, "--config"),
        (flags.reviewer.is_some() && !keep_flags, "--reviewer"),
        (environment.root.is_some() && !variables, "COUNTERSIGN_ROOT"),
        (environment.config.is_some() && !variables, "COUNTERSIGN_CONFIG"),
        (environment.reviewer.is_some() && !variables, "COUNTERSIGN_REVIEWER"),
    ];
    let why = match &mark {
        Some(mark) => format!("{mark}, and an agent does not choose its judge"),
        None => "a gate uses only the configuration and reviewers of the project".to_owned(),
    };
    notices.extend(
        given.iter().filter(|(ignored, _)| *ignored).map(|(_, name)| format!("{name} is ignored: {why}")),
    );
    let flags = if keep_flags { flags.clone() } else { Flags::default() };
    let environment = match variables {
        true => environment.clone(),
        false => Environment { root: None, config: None, reviewer: None, ..environment.clone() },
    };
    (flags, environment)
}

/// A file that a flag names: in the worktree as it is in the trusted commit, elsewhere as it is.
async fn named_file(site: &Site, path: &Path, commit: Option<&str>) -> Result<FileBytes, Failure> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let inside = site.worktree.as_deref().and_then(|top| real.strip_prefix(top).ok());
    let Some((inside, top)) = inside.zip(site.worktree.as_deref()) else {
        return countersign_engine::yaml::read_file(path).map_err(|problem| Failure::at(vec![problem]));
    };
    let shown = inside.display();
    let missing = || not_trusted(&format!("`{shown}` is not among the trusted files of this project"));
    let Some(commit) = commit else { return Err(missing()) };
    let bytes = Git::at(top).file_at(commit, &inside.to_string_lossy()).await;
    match bytes.map_err(|error| Failure::usage(error.to_string()))? {
        Some(bytes) => Ok(FileBytes { path: path.to_owned(), bytes }),
        None => Err(missing()),
    }
}

/// A sentence where the file in the working tree is another one than the trusted one, or none that can be used.
fn differs(root: &Path, trusted: Option<&FileBytes>, source: &Source) -> Option<String> {
    let path = root.join(FILE_NAME);
    let there = path.symlink_metadata().is_ok();
    let bytes = read_bounded(&path).ok();
    let used = format!("this gate uses {source}");
    match (trusted, bytes) {
        (None, None) if !there => None,
        (Some(trusted), Some(bytes)) if trusted.bytes == bytes => None,
        (Some(_), None) if !there => Some(format!("{FILE_NAME} is missing in the working tree: {used}")),
        (_, bytes) => {
            let file = bytes.map(|bytes| FileBytes { path: path.clone(), bytes });
            let broken = match file {
                None => Some("it cannot be read".to_owned()),
                Some(file) => problem(root, file),
            };
            Some(match broken {
                Some(words) => {
                    format!("{FILE_NAME} in the working tree is invalid and was not used ({words}): {used}")
                }
                None => format!("{FILE_NAME} was changed in the working tree and not yet trusted: {used}"),
            })
        }
    }
}

/// What is wrong with a configuration file, in one line; none where it can be used.
fn problem(root: &Path, file: FileBytes) -> Option<String> {
    let gathered = gathered(root, Some(file), None);
    let read = config::resolve(&gathered, &Flags::default(), &Environment::default(), &checks::problem);
    read.err().map(|problems| Failure::from(problems).to_string().trim().replace('\n', "; "))
}

/// The files of a project, read by no search.
fn gathered(root: &Path, project: Option<FileBytes>, user: Option<FileBytes>) -> Gathered {
    Gathered {
        root: root.to_owned(),
        root_origin: Origin::Default,
        project,
        project_origin: Origin::Default,
        project_problem: None,
        user,
    }
}

/// Refuses in CI what only the rules of this change could judge: the built-in ones ask questions, and no reviewer is known.
fn brings_first_rules(
    site: &Site,
    project: &Project,
    gathered: &Gathered,
    source: &Source,
) -> Result<(), Failure> {
    let config = &project.config;
    let has_reviewer = config.reviewer.is_some() || !config.reviewers.is_empty();
    let brings = gathered.project.is_none() && site.root.join(FILE_NAME).symlink_metadata().is_ok();
    let Source::Committed { branch, .. } = source else { return Ok(()) };
    if !source::is_ci() || has_reviewer || !brings {
        return Ok(());
    }
    let words = format!("{branch} has no {FILE_NAME}, and the one of this change does not judge itself");
    Err(not_trusted(&words))
}

/// The failure of a gate without a person's word.
pub(crate) fn not_trusted(what: &str) -> Failure {
    use crate::Code;
    use countersign_core::outcome::Outcome;
    let failure = Failure::new(Outcome::AwaitingPerson, Code::NotTrusted, what);
    match (author::is_agent(), source::is_ci()) {
        // An agent gets no command that is for people.
        (true, _) => failure.hint("this waits for a person, who has to say once how work is judged here"),
        (false, true) => failure.hint(
            "in CI the default branch of the remote says how work is judged: merge the rules into it first",
        ),
        (false, false) => failure.hint("look at it and say yes once, in a terminal: countersign trust"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_17_an_agent_names_neither_configuration_nor_reviewer() {
        let flags = Flags { config: Some("c2.yml".into()), reviewer: Some("command:yes".to_owned()) };
        let variables = Environment {
            root: Some("/r".into()),
            config: Some("/c".into()),
            reviewer: Some("command:yes".to_owned()),
            ..Environment::default()
        };
        let mark = || Some("CLAUDECODE is set".to_owned());
        let table = [
            (FlagsFrom::Caller, None, (true, true), 0),
            (FlagsFrom::Caller, mark(), (false, false), 5),
            (FlagsFrom::Settings, None, (true, false), 3),
            (FlagsFrom::Settings, mark(), (true, false), 3),
        ];
        for (from, mark, (keeps_flags, keeps_variables), ignored) in table {
            let mut notices = vec![];
            let (kept, environment) = believed(&flags, from, &variables, mark, &mut notices);
            assert_eq!(kept.config.is_some() && kept.reviewer.is_some(), keeps_flags);
            assert_eq!(environment.reviewer.is_some() && environment.root.is_some(), keeps_variables);
            assert_eq!(notices.len(), ignored, "{notices:?}");
        }
    }
}
