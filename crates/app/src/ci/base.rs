//! The commit that the work of an event is compared with, and whether exactly the work of the event is checked out.

use super::event::{Event, Work};
use crate::{Code, Failure};
use countersign_core::outcome::Outcome;
use countersign_engine::git::{Git, GitError};

fn internal(error: GitError) -> Failure {
    Failure::usage(format!("git cannot say what is checked out: {error}"))
        .hint("run countersign ci in a clone of the repository")
}

/// The commits of an event, as they are in this clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commits {
    /// None where the event names no base.
    pub base: Option<String>,
    /// What is checked out.
    pub head: String,
}

impl Commits {
    pub async fn of(event: &Event, git: &Git) -> Result<Self, Failure> {
        let head = git.head().await.map_err(internal)?;
        let head = head.ok_or_else(|| Failure::usage("nothing is checked out here"))?;
        let parents = parents(git, &head).await?;
        let wanted = event.work.head();
        let is_merge_of = |wanted: &str| parents.len() == 2 && parents[1] == wanted;
        let is_merge = match &event.work {
            Work::Merge { head: wanted, .. } => head != *wanted && is_merge_of(wanted),
            _ => false,
        };
        if let Some(wanted) = wanted
            && head != wanted
            && !is_merge
        {
            return Err(elsewhere(git, event, &head, wanted).await?);
        }
        let base = match &event.work {
            Work::Branch { .. } => None,
            // The merge was made with the branch as it was then.
            Work::Merge { .. } if is_merge => Some(present(git, &parents[0]).await?),
            Work::Merge { base, .. } => Some(common(git, base, &head).await?),
            Work::Queue { base, .. } => Some(present(git, base).await?),
            // After a forced push, what both have.
            Work::Push { before, .. } => Some(common(git, before, &head).await?),
        };
        Ok(Self { base, head })
    }
}

/// The parents of a commit; none that a shallow clone does not know.
async fn parents(git: &Git, commit: &str) -> Result<Vec<String>, Failure> {
    let said = git.text(["cat-file", "commit", commit]).await.map_err(internal)?;
    let header = said.lines().take_while(|line| !line.is_empty());
    Ok(header.filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect())
}

async fn present(git: &Git, commit: &str) -> Result<String, Failure> {
    match git.commit(commit).await.map_err(internal)? {
        Some(commit) => Ok(commit),
        None => Err(lacking(git, commit).await),
    }
}

async fn common(git: &Git, base: &str, head: &str) -> Result<String, Failure> {
    let base = present(git, base).await?;
    match git.merge_base(&base, head).await.map_err(internal)? {
        Some(common) => Ok(common),
        None => Err(lacking(git, &base).await),
    }
}

async fn is_shallow(git: &Git) -> bool {
    git.text(["rev-parse", "--is-shallow-repository"]).await.is_ok_and(|said| said.trim() == "true")
}

/// Without the commit that work is compared with there is no verdict about it.
async fn lacking(git: &Git, commit: &str) -> Failure {
    let short = commit.get(..12).unwrap_or(commit);
    let (what, hint) = match is_shallow(git).await {
        true => (
            format!("this clone is shallow and lacks what the work is compared with ({short})"),
            "fetch the history: with actions/checkout fetch-depth: 0, on GitLab GIT_DEPTH: 0, elsewhere git fetch --unshallow",
        ),
        false => (
            format!("this clone lacks what the work is compared with ({short})"),
            "fetch the branch that the work is to be merged into: git fetch origin",
        ),
    };
    Failure::new(Outcome::Usage, Code::Base, what).hint(hint)
}

async fn elsewhere(git: &Git, event: &Event, head: &str, wanted: &str) -> Result<Failure, Failure> {
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let known = git.commit(wanted).await.map_err(internal)?.is_some();
    let hint = match known || !is_shallow(git).await {
        true => {
            "check out the commit of the event, and run countersign ci before steps that change what is checked out"
        }
        false => "this clone is shallow: with actions/checkout fetch-depth: 0, on GitLab GIT_DEPTH: 0",
    };
    Ok(Failure::new(
        Outcome::Usage,
        Code::Base,
        format!(
            "{} is checked out, and the event {} is about {}",
            short(head),
            countersign_core::text::visible_line(&event.name),
            short(wanted)
        ),
    )
    .hint(hint))
}
