//! `countersign trust`: shows a person what decides how work is judged here, and records the yes.

use super::files::{self, Judging};
use super::programs::{Steered, path_folders, variables};
use super::record::{self, Trusted, TrustedRemote};
use super::site::Site;
use super::{gathered, source, started};
use crate::Failure;
use crate::answer::v1::trust::{GateFile, Judge, Program, Remote, Trust, Variable};
use crate::author::{self, require_person};
use crate::ledger_place;
use crate::project::{Project, environment};
use crate::run_project::RunProject;
use crate::task::own_command_of;
use countersign_core::check::Check;
use countersign_engine::config::{FILE_NAME, FileBytes, Flags, user_file};
use countersign_engine::engine::Judge as Asked;
use countersign_engine::git::{Git, RemoteTip};
use countersign_engine::installed::{self, TrustedPlaces, folder_to_record};
use countersign_engine::ledger::Ledger;
use countersign_engine::programs::PROGRAMS;
use countersign_engine::workspace::is_gate_file;
use countersign_engine::yaml::read_file;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const AGENTS_DECIDE: &str = "your own file lets agents decide about reviews (agents_may_decide)";
/// What a person should know before they trust scripts that no commit keeps.
const WITHOUT_GIT: &str = "scripts of this folder cannot judge without git, which keeps the trusted ones: make it a git \
     repository (git init), or name a program outside of it";

/// What a person is asked to trust.
pub struct Proposal {
    site: Site,
    /// Why the ledger does not count, where this machine saw a later or another one.
    other_ledger: Option<String>,
    trusted: Trusted,
    /// The tree that is kept when the person says yes, and the commit it is made after.
    tree: Option<(String, Option<String>)>,
    pub shown: Trust,
}

/// Gathers what the files of this folder say, and how that differs from what is trusted now. `keep` are variables that the
/// person names, beside those that are known to steer programs.
pub async fn propose(here: PathBuf, keep: &[String]) -> Result<Proposal, Failure> {
    require_person("only a person at a terminal can trust how work is judged")?;
    let (site, other_ledger) = Site::find_for_person(&here).await?;
    let file = site.root.join(FILE_NAME);
    let file = file.symlink_metadata().is_ok().then(|| read_file(&file)).transpose();
    let file = file.map_err(|problem| Failure::at(vec![problem]))?;
    let user = source::user_text();
    let project = project(&site, here, file.clone(), user.as_deref())?;
    let remote = remote(&site).await?;
    let tree = match site.git() {
        Some(git) => Some((git.tree_of_files().await.map_err(source::internal)?, head(&git).await?)),
        None => None,
    };
    let mut shown = Trust { root: site.root.clone(), ..Trust::default() };
    shown.notes.extend(other_ledger.iter().map(|words| format!("{words}; a yes lets it count as it is")));
    let before = now(&site).await?;
    shown.trusted_before = before.is_some();
    let (mut vouched, mut scripts) = (true, vec![]);
    match (&tree, &site.worktree) {
        (Some((tree, _)), Some(top)) => {
            let (git, judging) = (Git::at(top), Judging::of(&site, &project, tree).await?);
            let known = known(&git, before.as_ref(), remote.as_ref()).await?;
            judging.compare(&git, &mut shown, &known, tree).await?;
            if let Some((remote, _)) = &remote {
                vouched = judging.differ(&git, &remote.commit, tree).await?;
            }
            scripts = judging.scripts();
        }
        _ => without_git(&project, &mut shown, before.as_ref(), file.as_ref()),
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let folders = describe(&site, &project, home.as_deref(), &mut shown)?;
    if let Some((remote, words)) = &remote {
        let TrustedRemote { pinned, commit, .. } = remote;
        let (name, url, branch) = (pinned.name.clone(), pinned.url.clone(), pinned.branch.clone());
        shown.remote = Some(Remote { name, url, branch, commit: commit.clone() });
        shown.notes.extend(words.clone());
    }
    if project.config.agents_may_decide {
        shown.notes.push(AGENTS_DECIDE.to_owned());
    }
    let review_command = own_command_of(&project.config.service);
    if let Some(own) = &review_command {
        let same = before.as_ref().is_some_and(|before| before.review_command.as_ref() == Some(own));
        let how = if same { "same" } else { "new or changed: read it" };
        shown
            .notes
            .push(format!("the review command `/{}` of your home counts as it is now ({how})", own.name));
    }
    shown.vouched = vouched;
    let variables = variables(keep, before.as_ref())?;
    shown.variables = changes(&variables, before.as_ref().map(|before| &before.variables));
    shown.user_file = user.as_ref().and_then(|_| user_file(&environment()));
    let trusted = Trusted {
        by: author::actor(),
        remote: remote.map(|(remote, _)| remote),
        vouched,
        scripts,
        snapshot: None,
        configuration: file.filter(|_| tree.is_none()).map(|file| text(&file)),
        user,
        review_command,
        folders,
        variables,
        home,
        path: std::env::var("PATH").ok(),
    };
    Ok(Proposal { site, other_ledger, trusted, tree, shown })
}

impl Proposal {
    /// Records the yes of a person at a terminal.
    pub async fn record(self) -> Result<Trust, Failure> {
        let Self { mut site, other_ledger, mut trusted, tree, mut shown } = self;
        require_person("only a person at a terminal can trust how work is judged")?;
        if let Some(words) = other_ledger {
            ledger_place::accept(&site.root, &trusted.by, &words).await?;
            site.ledger = None;
        }
        if let (Some((tree, parent)), Some(git)) = (tree, site.git()) {
            let kept = git.keep_trusted(&tree, parent.as_deref()).await.map_err(source::internal)?;
            shown.commit = Some(kept.clone());
            trusted.snapshot = Some(kept);
        }
        let ledger = opened(&site).await?;
        record::trust(&ledger, &site, &trusted).await?;
        ledger.close().await;
        if site.worktree.is_some() {
            // The hook does not ask about files that the person has just seen.
            shown.notes.extend(crate::hook::begin(None).await);
        }
        shown.trusted = true;
        Ok(shown)
    }
}

/// What gates use now.
pub async fn show(here: PathBuf) -> Result<Trust, Failure> {
    let project = Project::for_gate(here, &Flags::default(), super::FlagsFrom::Caller).await?;
    let site = Site::find(project.root.path()).await?;
    let mut shown = Trust { root: project.config.root.clone(), trusted: true, ..Trust::default() };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    describe(&site, &project, home.as_deref(), &mut shown)?;
    if let Some(authority) = &project.authority {
        shown.source = Some(authority.source.to_string());
        shown.commit.clone_from(&authority.commit);
        shown.notes.extend(authority.notices.iter().cloned());
        let recorded = authority.trusted.as_ref().map(|trusted| &trusted.variables);
        // Without a record the environment is that of the caller: a job of CI, for example.
        let values = recorded.cloned().map_or_else(|| variables(&[], None), Ok)?;
        shown.variables = changes(&values, Some(&values));
        if let Some(trusted) = &authority.trusted {
            shown.folders.clone_from(&trusted.folders);
            shown.vouched = matches!(authority.source, super::Source::Vouched { .. });
            shown.remote = trusted.remote.as_ref().map(|remote| Remote {
                name: remote.pinned.name.clone(),
                url: remote.pinned.url.clone(),
                branch: remote.pinned.branch.clone(),
                commit: remote.commit.clone(),
            });
        }
    }
    Ok(shown)
}

/// The gate files of this folder that HEAD does not have as they are.
pub async fn to_commit(here: PathBuf) -> Vec<String> {
    let Ok(site) = Site::find(&here).await else { return vec![] };
    let Some(git) = site.git() else { return vec![] };
    let head = match git.head().await {
        Ok(Some(head)) => Ok(head),
        _ => git.empty_tree().await,
    };
    let (Ok(head), Ok(tree)) = (head, git.tree_of_files().await) else { return vec![] };
    let changed = git.changed_between(&head, &tree).await.unwrap_or_default();
    changed.into_iter().filter(|path| is_gate_file(path)).collect()
}

/// Takes the yes back: gates wait for a person again.
pub async fn revoke(here: PathBuf) -> Result<Trust, Failure> {
    let site = Site::find(&here).await?;
    require_person("only a person at a terminal can take trust back")?;
    if site.trusted_path() != Some(site.path.as_str()) {
        return Err(Failure::usage("nothing is trusted here, so there is nothing to take back"));
    }
    let ledger = opened(&site).await?;
    record::revoke(&ledger, &site, &author::actor()).await?;
    ledger.close().await;
    Ok(Trust { root: site.root, ..Trust::default() })
}

async fn opened(site: &Site) -> Result<Ledger, Failure> {
    match &site.ledger {
        Some(ledger) => Ok(ledger.clone()),
        None => Ok(ledger_place::open(&site.root).await?),
    }
}

/// The project by the files of this folder.
fn project(
    site: &Site,
    here: PathBuf,
    file: Option<FileBytes>,
    user: Option<&str>,
) -> Result<Project, Failure> {
    let user = user.and_then(|text| {
        Some(FileBytes { path: user_file(&environment())?, bytes: text.as_bytes().to_vec() })
    });
    let gathered = gathered(&site.root, file, user);
    let environment = crate::project::gate_environment();
    Project::of(here, &gathered, &Flags::default(), &environment)
}

/// The remote's branch, as the remote itself says where it can be asked.
async fn remote(site: &Site) -> Result<Option<(TrustedRemote, Option<String>)>, Failure> {
    let Some(git) = site.git() else { return Ok(None) };
    let Some(pinned) = git.remote_to_pin().await.map_err(source::internal)? else { return Ok(None) };
    let Some(fetched) = git.fetched(&pinned).await.map_err(source::internal)? else { return Ok(None) };
    let (commit, words) = match git.remote_tip(&pinned).await {
        RemoteTip::Here(commit) => (commit, None),
        RemoteTip::NotFetched => {
            (fetched.clone(), Some("the remote has newer commits: git fetch, then look again".to_owned()))
        }
        RemoteTip::Gone => {
            (fetched.clone(), Some(format!("the remote has no branch {} any more", pinned.branch)))
        }
        RemoteTip::Unknown(why) => (
            fetched.clone(),
            Some(format!("the remote could not be asked, so what was fetched counts: {why}")),
        ),
    };
    Ok(Some((TrustedRemote { pinned, commit, fetched }, words)))
}

async fn head(git: &Git) -> Result<Option<String>, Failure> {
    git.head().await.map_err(source::internal)
}

/// What is trusted now.
async fn now(site: &Site) -> Result<Option<Trusted>, Failure> {
    let (Some(ledger), Some(path)) = (&site.ledger, site.trusted_path()) else { return Ok(None) };
    if path != site.path {
        return Ok(None);
    }
    Ok(record::read(ledger, path).await?.trusted)
}

/// What the files are compared with: what is trusted now or, at the first time, what the remote has.
async fn known(
    git: &Git,
    before: Option<&Trusted>,
    remote: Option<&(TrustedRemote, Option<String>)>,
) -> Result<String, Failure> {
    let snapshot = before.and_then(|before| before.snapshot.clone());
    match snapshot.or_else(|| remote.map(|(remote, _)| remote.commit.clone())) {
        Some(known) => Ok(known),
        None => git.empty_tree().await.map_err(source::internal),
    }
}

/// Fills in the configuration file where there is no git.
fn without_git(project: &Project, shown: &mut Trust, before: Option<&Trusted>, file: Option<&FileBytes>) {
    let text = file.map(text);
    let change = match before {
        Some(before) if before.configuration == text => "same",
        Some(_) => "changed",
        None => "new",
    };
    shown.files.extend(text.map(|_| GateFile { path: FILE_NAME.to_owned(), change: change.to_owned() }));
    if files::judging(project).may_name_a_file(project.root.path()) {
        shown.notes.push(WITHOUT_GIT.to_owned());
    }
}

/// Variables with their values, and how these differ from the trusted ones.
fn changes(values: &BTreeMap<String, Steered>, before: Option<&BTreeMap<String, Steered>>) -> Vec<Variable> {
    let known = |name: &str| before.and_then(|before| before.get(name));
    let variable = |name: &String, steered: Option<&Steered>| {
        let change = match (steered, known(name)) {
            (None, _) => "removed",
            (Some(_), None) => "new",
            (Some(now), Some(known)) if now.digest == known.digest => "same",
            (Some(_), Some(_)) => "changed",
        };
        let value = steered.and_then(|steered| steered.value.clone());
        Variable { name: name.clone(), value, change: change.to_owned() }
    };
    let gone = before.into_iter().flatten().filter(|(name, _)| !values.contains_key(*name));
    let all = values.iter().map(|(name, steered)| variable(name, Some(steered)));
    all.chain(gone.map(|(name, _)| variable(name, None))).collect()
}

/// Fills in rules, reviewers with their programs, and commands. Returns the folders to record.
fn describe(
    site: &Site,
    project: &Project,
    home: Option<&Path>,
    shown: &mut Trust,
) -> Result<Vec<PathBuf>, Failure> {
    shown.rules = project.config.rules.iter().map(|rule| rule.name.clone()).collect();
    let checks = project.config.rules.iter().flat_map(|rule| &rule.criteria);
    let commands = checks.filter_map(|criterion| match &criterion.check {
        Some(Check::Run(run)) => Some(run.command.clone()),
        _ => None,
    });
    shown.commands = commands.collect();
    let judged = site.worktree.as_deref().unwrap_or(&site.root);
    let mut folders = path_folders(judged);
    let panelists = project.panelists()?;
    let names: Vec<String> = panelists.iter().map(|panelist| panelist.name.clone()).collect();
    let (root, surroundings) = (project.root.path(), project.surroundings());
    let refused = |judge: &Asked| {
        // What the person is about to trust is not known to a gate yet.
        project.authority.as_ref()?;
        started(judge, &surroundings, root)?.err()
    };
    let kind = |judge: &Asked| (words(judge), matches!(judge, Asked::Agent(_)), refused(judge));
    let kinds: Vec<_> = panelists.iter().map(|panelist| kind(&panelist.judge)).collect();
    let planner = project.planner_for(panelists)?;
    let system = TrustedPlaces::new(judged, []);
    let mut found = vec![];
    for (name, kind) in names.into_iter().zip(kinds) {
        let programs: Vec<PathBuf> = planner.panel.programs(&name).iter().map(PathBuf::from).collect();
        for program in programs.iter().filter(|program| system.problem(program).is_some()) {
            let real = program.canonicalize().ok();
            let both = [Some(program.clone()), real].into_iter().flatten();
            let outside = both.filter(|program| !program.starts_with(judged));
            folders.extend(outside.filter_map(|program| folder_to_record(&program, home)));
        }
        found.push((name, kind, programs));
    }
    let agents = PROGRAMS.reviewers().map(|facts| (facts.name.to_owned(), false));
    for (program, is_shown) in review_programs(project).into_iter().map(|name| (name, true)).chain(agents) {
        let found = installed::find(&program, &site.root, std::env::var_os("PATH").as_deref());
        let real = found.as_ref().and_then(|found| found.canonicalize().ok());
        let outside = [found, real].into_iter().flatten().filter(|program| !program.starts_with(judged));
        let recorded: Vec<PathBuf> = outside.filter(|program| system.problem(program).is_some()).collect();
        if is_shown {
            shown.commands.extend(recorded.iter().map(|program| program.display().to_string()));
        }
        folders.extend(recorded.iter().filter_map(|program| folder_to_record(program, home)));
    }
    let folders = widest(folders);
    let places = TrustedPlaces::new(judged, folders.clone());
    for (name, (asks, is_agent, problem), programs) in found {
        let programs = programs.into_iter().map(|path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            let inside = real.strip_prefix(judged).ok();
            // A script that is kept with the trusted files is started from there.
            let is_kept = !is_agent && inside.is_some_and(|inside| is_kept(site, shown, inside));
            let problem = if is_kept { None } else { places.problem(&path) };
            Program { path, problem }
        });
        let programs = programs.collect();
        shown.reviewers.push(Judge { name, asks, programs, problem });
    }
    shown.folders.clone_from(&folders);
    Ok(folders)
}

/// Whether a file of the worktree is among those that are kept; where they were not looked through, a gate says so.
fn is_kept(site: &Site, shown: &Trust, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(&site.path) else { return true };
    shown.files.is_empty() || shown.files.iter().any(|known| Path::new(&known.path) == inside)
}

/// The programs of review commands outside of the list of reviewers: that of the settings of a run.
fn review_programs(project: &Project) -> Vec<String> {
    let run = RunProject::of(project).ok().and_then(|run| run.settings.config.review_command);
    run.iter().filter_map(|command| Some(command.split_whitespace().next()?.to_owned())).collect()
}

fn words(judge: &Asked) -> String {
    match judge {
        Asked::Command(command) => command.argv.join(" "),
        Asked::Marked(marked) => marked.worker.name().to_owned(),
        Asked::Agent(agent) => agent.program.name.to_owned(),
        Asked::Service(service) => service.base_url.clone(),
        Asked::Replay { .. } => "recorded rulings".to_owned(),
        Asked::TwoCall(_) => "two calls".to_owned(),
        Asked::Library(_) => "a library".to_owned(),
        Asked::SelfReview => "the author itself".to_owned(),
    }
}

/// The folders without those that lie in another one of them.
fn widest(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    folders.sort();
    folders.dedup();
    let all = folders.clone();
    folders.retain(|folder| !all.iter().any(|other| other != folder && folder.starts_with(other)));
    folders
}

fn text(file: &FileBytes) -> String {
    String::from_utf8_lossy(&file.bytes).into_owned()
}
