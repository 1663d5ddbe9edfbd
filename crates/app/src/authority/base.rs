//! What a gate compares work with. The author of the work can move local branches and name any commit, so neither makes the
//! change smaller.

use super::FlagsFrom;
use crate::Failure;
use crate::author;
use crate::project::Project;
use countersign_core::text::visible_line;
use countersign_engine::git::{BaseProblem, Git};

/// The commit a change is compared with at a gate; `named` may make the change larger. Says what was not used.
pub async fn base(
    project: &Project,
    from: FlagsFrom,
    named: Option<&str>,
) -> Result<(Option<String>, Option<String>), Failure> {
    let git = Git::at(project.root.path());
    let authority = project.authority.as_ref();
    let is_job = authority.is_some_and(|authority| authority.is_job);
    if let Some(name) = named.filter(|_| is_job || (from == FlagsFrom::Caller && author::mark().is_none())) {
        return Ok((git.base(Some(name), None).await?, None));
    }
    let usual = match authority.and_then(|authority| authority.tip.as_deref()) {
        Some(tip) => by_tip(&git, tip).await?,
        None => git.base(None, None).await?,
    };
    let Some(name) = named else { return Ok((usual, None)) };
    let wanted = git.base(Some(name), None).await?;
    let is_larger = match (&wanted, &usual) {
        (Some(wanted), Some(usual)) => {
            git.distance(wanted, usual).await.map_err(super::source::internal)?.is_some()
        }
        (None, _) => true,
        (Some(_), None) => false,
    };
    if is_larger {
        return Ok((wanted, None));
    }
    let words = format!(
        "--base {} is ignored: an agent does not choose what its work is compared with",
        visible_line(name)
    );
    Ok((usual, Some(words)))
}

/// Where HEAD left the branch of the remote, as the remote itself confirmed it.
async fn by_tip(git: &Git, tip: &str) -> Result<Option<String>, Failure> {
    let Some(head) = git.head().await.map_err(super::source::internal)? else { return Ok(None) };
    let base = git.merge_base(&head, tip).await.map_err(super::source::internal)?;
    Ok(base.map(Some).ok_or_else(|| BaseProblem::NothingInCommon(tip.to_owned()))?)
}
