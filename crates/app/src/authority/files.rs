//! The files that decide how work is judged: those that gates know by their paths, and the scripts of the project that its
//! configuration names, with what they use. How they differ from what is trusted, and what of that a gate says.

use super::site::Site;
use super::source::{self, Source};
use crate::Failure;
use crate::answer::v1::trust::{GateFile, Trust};
use crate::project::Project;
use crate::run_project::RunProject;
use countersign_core::check::Check;
use countersign_engine::config::{FILE_NAME, ReviewerKind};
use countersign_engine::engine::{Commands, GateSurroundings, Surroundings};
use countersign_engine::git::{CommitFiles, Git};
use countersign_engine::installed::TrustedPlaces;
use countersign_engine::scratch::Scratch;
use countersign_engine::stamp::Around;
use countersign_engine::workspace::is_gate_file;
use countersign_engine::yaml::read_at_most;
use std::collections::BTreeSet;
use std::path::Path;

/// How many changed scripts a gate names.
const NAMED_MAX: usize = 3;
/// Endings of the files of a folder with code.
const CODE_ENDS: [&str; 6] = [".py", ".js", ".mjs", ".cjs", ".ts", ".sh"];

/// The commands whose scripts gates take from the trusted commit.
pub(super) fn judging(project: &Project) -> Commands {
    let config = &project.config;
    let mut commands = Commands::default();
    for reviewer in &config.reviewers {
        if let ReviewerKind::Command(command) = &reviewer.kind {
            commands.reviewers.push(command.argv.clone());
        }
    }
    for criterion in config.rules.iter().flat_map(|rule| &rule.criteria) {
        if let Some(Check::Run(run)) = &criterion.check {
            commands.checks.push(run.command.clone());
        }
    }
    commands
}

/// All commands of the configuration: also those of reviews and tests of tasks and runs.
pub(super) fn all(project: &Project) -> Commands {
    let mut commands = judging(project);
    let service = &project.config.service;
    let run = RunProject::of(project).ok().map(|run| run.settings.config);
    let reviews = run.iter().filter_map(|run| run.review_command.as_ref()).chain([&service.command]);
    let words = |text: &String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    commands.reviewers.extend(reviews.map(words).filter(|words| !words.is_empty()));
    let own = [&service.test, &service.lint, &service.commands.setup];
    commands.checks.extend(own.into_iter().flatten().cloned());
    if let Some(run) = &run {
        let tests = [&run.commands.test, &run.commands.lint, &run.commands.lint_fix];
        commands.checks.extend(tests.into_iter().flatten().cloned());
    }
    commands
}

/// The files of a tree that decide how work is judged, by their paths in the worktree.
#[derive(Clone, Debug, Default)]
pub(super) struct Judging {
    /// The path of the project in the worktree.
    below: String,
    scripts: BTreeSet<String>,
    commands: Commands,
}

impl Judging {
    /// By the configuration of a project, whose files are a tree of the repository.
    pub(super) async fn of(site: &Site, project: &Project, tree: &str) -> Result<Self, Failure> {
        let (commands, below) = (all(project), site.path.clone());
        let root = project.root.path();
        let (Some(top), true) = (&site.worktree, commands.may_name_a_file(root)) else {
            return Ok(Self { below, commands, ..Self::default() });
        };
        let failed = |error: std::io::Error| Failure::internal(error.to_string());
        let scratch = Scratch::shielded("trust").map_err(failed)?;
        let files = Git::at(top).check_out(tree, &scratch.path().join("checkout"), Around::Ours(1)).await;
        // Wherever the programs are: it is about their scripts here.
        let places = TrustedPlaces::new(top, ["/".into()]);
        let CommitFiles { files, stamp } = files.map_err(source::internal)?;
        let gate = Some(GateSurroundings { places, scripts: Some(files), stamp: Some(stamp) });
        let surroundings = Surroundings { environment: std::env::vars_os().collect(), gate };
        let scripts = surroundings.scripts_of(&commands, root);
        let scripts = scripts.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Ok(Self { below, scripts, commands })
    }

    /// The paths of the scripts, to be recorded.
    pub(super) fn scripts(&self) -> Vec<String> {
        self.scripts.iter().cloned().collect()
    }

    /// The same as it was recorded.
    pub(super) fn recorded(site: &Site, scripts: &[String]) -> Self {
        let scripts = scripts.iter().cloned().collect();
        Self { below: site.path.clone(), scripts, commands: Commands::default() }
    }

    /// Whether a file of the worktree decides how work is judged.
    fn has(&self, path: &str) -> bool {
        let inside = self.inside(path);
        let is_code = CODE_ENDS.iter().any(|end| path.ends_with(end));
        let in_folder = || path.match_indices('/').any(|(at, _)| self.scripts.contains(&path[..at]));
        inside.is_some_and(|path| is_gate_file(path) || self.commands.names(path))
            || self.scripts.contains(path)
            || is_code && in_folder()
    }

    fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.below.as_str() {
            "" => Some(path),
            below => path.strip_prefix(below)?.strip_prefix('/'),
        }
    }

    /// Whether one of these files is another one in two commits or trees.
    pub(super) async fn differ(&self, git: &Git, one: &str, other: &str) -> Result<bool, Failure> {
        if one == other {
            return Ok(false);
        }
        let changed = git.changed_between(one, other).await.map_err(source::internal)?;
        Ok(changed.iter().any(|path| self.has(path)))
    }

    /// Fills in the files, and how those of `tree` differ from those of `known`.
    pub(super) async fn compare(
        &self,
        git: &Git,
        shown: &mut Trust,
        known: &str,
        tree: &str,
    ) -> Result<(), Failure> {
        let changed = git.changed_between(known, tree).await.map_err(source::internal)?;
        let changed: Vec<String> = changed.into_iter().filter(|path| self.has(path)).collect();
        let files = git.files_of(tree).await.map_err(source::internal)?;
        let files: Vec<String> = files.into_iter().filter(|path| self.has(path)).collect();
        for path in files.iter().chain(changed.iter().filter(|path| !files.contains(path))) {
            let change = match (files.contains(path), changed.contains(path)) {
                (false, _) => "removed",
                (true, false) => "same",
                (true, true) if git.id_at(known, path).await.map_err(source::internal)?.is_some() => {
                    "changed"
                }
                (true, true) => "new",
            };
            shown.files.push(GateFile { path: self.shown(path), change: change.to_owned() });
        }
        if !changed.is_empty() {
            shown.diff = git.diff_between(known, tree, &changed).await.map_err(source::internal)?;
        }
        Ok(())
    }

    /// A path as it is seen from the project.
    fn shown(&self, path: &str) -> String {
        match self.inside(path) {
            Some(inside) => inside.to_owned(),
            None => format!("{}{path}", "../".repeat(self.below.split('/').count())),
        }
    }
}

/// What a gate says of scripts that were changed in the working tree, where it uses the trusted ones.
pub(super) async fn changed_scripts(
    site: &Site,
    project: &Project,
    surroundings: &Surroundings,
    source: &Source,
) -> Option<String> {
    let top = site.worktree.as_deref()?;
    let mut changed = vec![];
    for path in surroundings.changed_scripts(&judging(project), project.root.path()) {
        // The configuration has a sentence of its own.
        if !path.ends_with(FILE_NAME) && !is_of_older_branch(site, source, &top.join(&path)).await {
            changed.push(path.display().to_string());
        }
    }
    let more = match changed.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if changed.len() == 1 { "was" } else { "were" };
    let names = changed.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let words = format!(
        "{names}{more} {verb} changed in the working tree and not yet trusted: this gate uses {source}"
    );
    (!changed.is_empty()).then_some(words)
}

/// Whether a file is as it was where this branch left the trusted one: the trusted branch is newer, and this work has not
/// changed the file.
pub(super) async fn is_of_older_branch(site: &Site, source: &Source, file: &Path) -> bool {
    let (Source::Committed { commit, .. }, Some(top)) = (source, &site.worktree) else { return false };
    let Some(path) = file.strip_prefix(top).ok().and_then(Path::to_str) else { return false };
    let git = Git::at(top);
    let Ok(Some(base)) = git.merge_base("HEAD", commit).await else { return false };
    match git.file_at(&base, path).await {
        Ok(Some(then)) => read_at_most(file, then.len()).is_ok_and(|now| now == then),
        Ok(None) => file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound),
        Err(_) => false,
    }
}
