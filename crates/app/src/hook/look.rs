//! What an agent changed since the last pass. Nothing changed is known at once, from git alone.

use super::Note;
use crate::Failure;
use crate::author;
use crate::change;
use crate::project::{self, Project};
use countersign_engine::config::{self, FILE_NAME, Flags};
use countersign_engine::git::{Anchor, Git, Standpoint};
use countersign_engine::workspace::{self, Change, ChangeError, ChangeWanted, Root};
use std::path::PathBuf;

/// Work since the last pass, and the project as it is judged in it.
pub(super) struct Work {
    pub(super) base: change::Base,
    pub(super) change: Change,
    pub(super) wanted: ChangeWanted,
    at: Standpoint,
    /// What passed last.
    anchor: Option<Anchor>,
    /// What a person should know: the configuration in the files cannot be used.
    pub(super) broken: Option<String>,
}

/// Looks at the project around a folder; none where nothing changed.
pub(super) async fn look(
    here: PathBuf,
    config: Option<PathBuf>,
    note: Note,
) -> Result<Option<Work>, Failure> {
    let flags = Flags { config, reviewer: None };
    let environment = project::gate_environment();
    let gathered = config::gather_readable(&here, &flags, &environment)?;
    let root = Root::new(&gathered.root).map_err(|error| {
        Failure::usage(format!("the project root `{}` cannot be used: {error}", gathered.root.display()))
    })?;
    let git = Git::at(root.path());
    project::hide_own_state(root.path())?;
    let at = git.standpoint().await.map_err(no_repository)?;
    let known = git.anchored(&at).await.map_err(no_repository)?;
    let tree = known.anchor.as_ref().map(|anchor| &anchor.tree);
    if at.is_clean && tree.is_some() && tree == known.head_tree.as_ref() {
        return Ok(None);
    }
    let (commit, anchor) = match known.anchor {
        Some(anchor) => (git.since(&at, Some(&anchor)).await?, Some(anchor)),
        None => begin(&git, &at, note).await?,
    };
    let wanted = ChangeWanted { base: commit.clone(), ..ChangeWanted::default() };
    let change = match workspace::change(&root, &wanted).await {
        Err(ChangeError::Empty { .. }) => return Ok(None),
        change => change?,
    };
    let judged_by = git.judged_by(anchor.as_ref()).await?;
    let both = (commit, judged_by.as_deref());
    let lies_there = gathered.clone();
    let base = change::since(here.clone(), gathered, &flags, &environment, both).await?;
    let mut broken = None;
    if base.edited().is_some()
        && let Err(failure) = Project::of(here, &lies_there, &flags, &environment)
    {
        let words = failure.words();
        broken =
            Some(format!("{FILE_NAME} in the working tree is broken and was not used: {}", words.trim()));
    }
    Ok(Some(Work { base, change, wanted, at, anchor, broken }))
}

/// Keeps where work begins, where nothing is known yet. A person who installs the hook has seen the files of the gate as
/// they are.
pub(super) async fn begin_here(config: Option<PathBuf>) -> Result<(), Failure> {
    let flags = Flags { config, reviewer: None };
    let gathered = config::gather(&project::current_folder()?, &flags, &project::environment())?;
    let root = Root::new(&gathered.root).map_err(|error| Failure::usage(error.to_string()))?;
    let git = Git::at(root.path());
    let at = git.standpoint().await.map_err(no_repository)?;
    let anchor = match git.anchored(&at).await.map_err(no_repository)?.anchor {
        Some(anchor) => anchor,
        None => {
            let usual = git.since(&at, None).await?;
            git.begin_at(&at, usual.as_deref()).await.map_err(no_repository)?
        }
    };
    if author::is_agent() {
        return Ok(());
    }
    let wanted = ChangeWanted { base: Some(anchor.commit.clone()), ..ChangeWanted::default() };
    let change = match workspace::change(&root, &wanted).await {
        Err(ChangeError::Empty { .. }) => return Ok(()),
        change => change?,
    };
    let files = change.gate_files();
    if !files.is_empty() {
        git.vouch(&at, &anchor, &files).await.map_err(no_repository)?;
    }
    Ok(())
}

/// The first look at a branch. Where it began is kept, so that what an agent commits from now on is seen, also on the
/// branch everybody starts from.
async fn begin(git: &Git, at: &Standpoint, note: Note) -> Result<(Option<String>, Option<Anchor>), Failure> {
    let usual = git.since(at, None).await?;
    match git.begin_at(at, usual.as_deref()).await {
        Ok(anchor) => Ok((Some(anchor.commit.clone()), Some(anchor))),
        Err(error) => {
            note(&error.to_string());
            Ok((usual, None))
        }
    }
}

fn no_repository(error: countersign_engine::git::GitError) -> Failure {
    Failure::usage(error.to_string()).hint("a hook looks at what changed, and needs a git repository")
}

impl Work {
    /// Keeps what was judged as what passed last, if the files are still that. The next stop begins there.
    pub(super) async fn passed(&self, review: &str) -> Result<(), Failure> {
        let wanted = ChangeWanted { keeps_tree: true, ..self.wanted.clone() };
        let now = workspace::change(&self.base.project.root, &wanted).await?;
        let Some(tree) = now.tree.filter(|_| now.fingerprint == self.change.fingerprint) else {
            return Ok(());
        };
        let git = Git::at(self.base.project.root.path());
        let words = format!("countersign: passed in {review}");
        let head = self.at.head.as_deref();
        let kept = git.set_anchor(&self.at, self.anchor.as_ref(), &tree, head, &words).await;
        kept.map(drop).map_err(|error| Failure::internal(error.to_string()))
    }
}
