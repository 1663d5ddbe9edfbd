//! What a change is against, and files as they were there.

use super::{Git, GitError};

/// Why it is not known what a change is against.
#[derive(Debug, thiserror::Error)]
pub enum BaseProblem {
    /// The name that was given stands for no commit.
    #[error("`{name}` names no commit here; a shallow clone may lack it: git fetch --unshallow")]
    Unknown {
        /// As given.
        name: String,
    },
    /// HEAD is detached and there is no branch others start from.
    #[error("there is no default branch to compare with")]
    NoBranch,
    /// Nothing in common.
    #[error(
        "HEAD and `{branch}` have no commit in common; a shallow clone may lack it: git fetch --unshallow"
    )]
    NothingInCommon {
        /// The default branch.
        branch: String,
    },
    /// Git did not do it.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Git {
    /// The commit a change is against: the one that is given, else where HEAD left the default branch. None where
    /// there is no commit yet.
    pub async fn base(
        &self,
        given: Option<&str>,
        branch: Option<&str>,
    ) -> Result<Option<String>, BaseProblem> {
        if let Some(name) = given {
            let unknown =
                || BaseProblem::Unknown { name: countersign_core::text::visible_line(name).into_owned() };
            return self.commit(name).await?.map(Some).ok_or_else(unknown);
        }
        let Some(head) = self.head().await? else { return Ok(None) };
        let branch = self.default_branch(branch).await?.ok_or(BaseProblem::NoBranch)?;
        let base = self.merge_base(&head, &branch.reference).await?;
        base.map(Some).ok_or(BaseProblem::NothingInCommon { branch: branch.name })
    }

    /// A file as it was at a commit; none where it was not there. The path is relative to the folder.
    pub async fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let listed = self.run(["ls-tree", "-z", commit, "--", path]).await?;
        let entry = String::from_utf8_lossy(&listed).into_owned();
        let Some((head, _)) = entry.split_once('\t') else { return Ok(None) };
        match head.split(' ').collect::<Vec<_>>()[..] {
            // A link is not followed: what it leads to is not of that commit.
            ["100644" | "100755", "blob", id] => self.run(["cat-file", "blob", id]).await.map(Some),
            _ => Err(GitError::unexpected("ls-tree", format!("`{path}` is no file in {commit}"))),
        }
    }
}
