//! The change of an agent since the last pass. The files alone show whether there is one.

use super::anchors::{self, Anchors};
use super::{Note, room};
use crate::Failure;
use crate::author;
use crate::authority::FlagsFrom;
use crate::change;
use crate::ledger_place;
use crate::project::{self, Project};
use countersign_engine::config::{self, Flags};
use countersign_engine::git::{Anchor, Checkout, Git};
use countersign_engine::workspace::{self, Change, ChangeError, ChangeWanted, Root};
use std::path::{Path, PathBuf};

pub(super) struct Work {
    pub(super) base: change::Base,
    pub(super) change: Change,
    pub(super) wanted: ChangeWanted,
    at: Checkout,
    /// The state that passed last.
    anchor: Option<Anchor>,
    /// Whether a pass is where the next stop begins.
    pub(super) keeps_pass: bool,
}

/// The work in the project around a folder; none where nothing changed.
pub(super) async fn look(
    here: PathBuf,
    config: Option<PathBuf>,
    note: Note,
) -> Result<Option<Work>, Failure> {
    let flags = Flags { config, reviewer: None };
    let root = project::root_at(&config::find_root(&here, &project::gate_environment())?)?;
    ledger_place::hide_own_folder(root.path())?;
    let git = Git::at(root.path());
    let at = git.checkout().await.map_err(no_repository)?;
    let anchors = Anchors::of(&git, root.path()).await?;
    let known = anchors.at(&at).await?;
    let (commit, anchor) = match known {
        Some(anchor) => (git.since(&at, Some(&anchor)).await?, Some(anchor)),
        None => {
            let nearest = anchors.nearest(&at).await?;
            if nearest.is_none() {
                // Nobody knows where the work began, so what is committed already may be all of it.
                Project::for_gate(here.clone(), &flags, FlagsFrom::Settings).await?;
            }
            begin(&git, root.path(), &at, nearest, note).await?
        }
    };
    let kept = room::kept(anchors.ledger(), root.path()).await?;
    anchors.close().await;
    let since = anchor.as_ref().and_then(|anchor| anchor.parent.clone()).or_else(|| commit.clone());
    let since = since.filter(|since| at.head.as_ref() != Some(since));
    let wanted = ChangeWanted { base: commit.clone(), kept, since, ..ChangeWanted::default() };
    let change = workspace::change(&root, &wanted).await;
    if let Some(kept) = &wanted.kept
        && let Err(failure) = room::record(root.path(), kept).await
    {
        note(&failure.message);
    }
    let wanted = ChangeWanted { kept: None, ..wanted };
    let change = match change {
        Err(empty @ ChangeError::Empty { .. }) => {
            if empty.is_other_in_head() {
                note(&empty.to_string());
            }
            return Ok(None);
        }
        change => change?,
    };
    let project = Project::for_gate(here, &flags, FlagsFrom::Settings).await?;
    let mut change = match project.root.path() == root.path() {
        true => change,
        // A file that is gone or not trusted does not move the project.
        false => workspace::change(&project.root, &wanted).await?,
    };
    change::note_seen(&project, &mut change).await?;
    let warnings = project.notices();
    let base = change::Base { project, commit, warnings };
    Ok(Some(Work { base, change, wanted, at, anchor, keeps_pass: true }))
}

/// Records where work begins, if that is not recorded yet. A person who installs the hook vouches for the files of the
/// gate as they are.
pub(super) async fn begin_here(config: Option<PathBuf>) -> Result<(), Failure> {
    let flags = Flags { config, reviewer: None };
    let gathered = config::gather(&project::current_folder()?, &flags, &project::environment())?;
    let root = Root::new(&gathered.root).map_err(|error| Failure::usage(error.to_string()))?;
    let git = Git::at(root.path());
    let at = git.checkout().await.map_err(no_repository)?;
    let anchors = Anchors::of(&git, root.path()).await?;
    let known = anchors.at(&at).await?;
    anchors.close().await;
    let anchor = match known {
        Some(anchor) => anchor,
        None => {
            let usual = git.since(&at, None).await?;
            let anchor = git.begin_at(&at, usual.as_deref()).await.map_err(no_repository)?;
            anchors::record(root.path(), &at, &anchor).await?;
            anchor
        }
    };
    if !author::actor().is_person() {
        return Ok(());
    }
    let wanted = ChangeWanted { base: Some(anchor.commit.clone()), ..ChangeWanted::default() };
    let change = match workspace::change(&root, &wanted).await {
        Err(ChangeError::Empty { .. }) => return Ok(()),
        change => change?,
    };
    let files = change.gate_files();
    if !files.is_empty() {
        let anchor = git.vouch(&at, &anchor, &files).await.map_err(no_repository)?;
        anchors::record(root.path(), &at, &anchor).await?;
    }
    Ok(())
}

/// The first look at a branch. The start is recorded, so that later commits of an agent are seen, also on the default
/// branch.
async fn begin(
    git: &Git,
    root: &Path,
    at: &Checkout,
    nearest: Option<Anchor>,
    note: Note,
) -> Result<(Option<String>, Option<Anchor>), Failure> {
    if let Some(anchor) = nearest {
        return Ok((Some(anchor.commit.clone()), Some(anchor)));
    }
    let usual = git.since(at, None).await?;
    match git.begin_at(at, usual.as_deref()).await {
        Ok(anchor) => {
            if let Err(failure) = anchors::record(root, at, &anchor).await {
                note(&failure.message);
            }
            Ok((Some(anchor.commit.clone()), Some(anchor)))
        }
        Err(error) => {
            note(&error.to_string());
            Ok((usual, None))
        }
    }
}

pub(super) fn no_repository(error: countersign_engine::git::GitError) -> Failure {
    Failure::usage(error.to_string()).hint("a hook reviews changes, so it needs a git repository")
}

impl Work {
    /// The files as they are, as a tree of the repository. Where they are other ones by now, the verdict will be stale.
    pub(super) async fn tree(&self) -> Result<String, Failure> {
        let wanted = ChangeWanted { keeps_tree: true, ..self.wanted.clone() };
        let now = workspace::change(&self.base.project.root, &wanted).await?;
        now.tree
            .ok_or_else(|| Failure::internal("the files could not be written as a tree of the repository"))
    }

    /// Records the judged files as the last pass, if they are unchanged. The next stop begins there.
    pub(super) async fn passed(&self, review: &str) -> Result<(), Failure> {
        if !self.keeps_pass {
            return Ok(());
        }
        let wanted = ChangeWanted { keeps_tree: true, ..self.wanted.clone() };
        let now = workspace::change(&self.base.project.root, &wanted).await?;
        let Some(tree) = now.tree.filter(|_| now.fingerprint == self.change.fingerprint) else {
            return Ok(());
        };
        let git = Git::at(self.base.project.root.path());
        let words = format!("countersign: passed in {review}");
        let head = self.at.head.as_deref();
        let kept = git.set_anchor(&self.at, self.anchor.as_ref(), &tree, head, &words).await;
        let kept = kept.map_err(|error| Failure::internal(error.to_string()))?;
        anchors::record(self.base.project.root.path(), &self.at, &kept).await
    }
}
