//! Commits and branches: where we are, what a change is against, and files as they were there.

use super::{Git, GitError, Result};

/// A branch that others start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// As people call it: `main`.
    pub name: String,
    /// The full name git knows it by: `refs/heads/main`, or the remote one where there is no local one.
    pub reference: String,
}

impl Git {
    /// The commit a name stands for; none where it stands for none.
    pub async fn commit(&self, name: &str) -> Result<Option<String>> {
        let name = format!("{name}^{{commit}}");
        self.maybe(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).await
    }

    /// The commit that is checked out; none before the first.
    pub async fn head(&self) -> Result<Option<String>> {
        self.commit("HEAD").await
    }

    /// The branch that is checked out; none where HEAD is detached.
    pub async fn current_branch(&self) -> Result<Option<String>> {
        self.maybe(["symbolic-ref", "--quiet", "--short", "HEAD"]).await
    }

    /// The last commit two have in common; none where there is none, or a shallow clone lacks it.
    pub async fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>> {
        self.maybe(["merge-base", "--end-of-options", one, other]).await
    }

    /// The branch that others start from: the configured one, what the remote calls its own, `main`, `master`, the
    /// current one. None where HEAD is detached and there is no other, or where the configured one is not there.
    pub async fn default_branch(&self, configured: Option<&str>) -> Result<Option<Branch>> {
        let local = |name: &str| format!("refs/heads/{name}");
        let remote = |name: &str| format!("refs/remotes/origin/{name}");
        let format = "--format=%(refname)%00%(symref)";
        let mut ask = vec!["for-each-ref".to_owned(), format.to_owned(), remote("HEAD")];
        let names: Vec<&str> = configured.map_or(vec!["main", "master"], |name| vec![name]);
        ask.extend(names.iter().flat_map(|name| [local(name), remote(name)]));
        let said = self.text(ask).await?;
        let known: Vec<(&str, &str)> = said.lines().filter_map(|line| line.split_once('\0')).collect();
        let is_known = |reference: &str| known.iter().any(|(name, _)| *name == reference);
        let named = |name: &str| {
            let reference = [local(name), remote(name)].into_iter().find(|reference| is_known(reference))?;
            Some(Branch { name: name.to_owned(), reference })
        };
        if let Some(name) = configured {
            return Ok(named(name));
        }
        let head = known.iter().find(|(name, _)| *name == "refs/remotes/origin/HEAD");
        if let Some(name) = head.and_then(|(_, symref)| symref.strip_prefix("refs/remotes/origin/")) {
            return self.local_first(name).await.map(Some);
        }
        if let Some(branch) = names.iter().find_map(|name| named(name)) {
            return Ok(Some(branch));
        }
        let current = self.current_branch().await?;
        Ok(current.map(|name| Branch { reference: local(&name), name }))
    }

    /// Work is merged into the local branch, so that is what it is against.
    async fn local_first(&self, name: &str) -> Result<Branch> {
        let local = format!("refs/heads/{name}");
        let reference = match self.maybe(["show-ref", "--verify", "--quiet", &local]).await? {
            Some(_) => local,
            None => format!("refs/remotes/origin/{name}"),
        };
        Ok(Branch { name: name.to_owned(), reference })
    }
}

/// Why it is not known what a change is against.
#[derive(Debug, thiserror::Error)]
pub enum BaseProblem {
    /// The name that was given stands for no commit.
    #[error(
        "there is no commit `{0}` in this repository; if this is a shallow clone, run `git fetch --unshallow`"
    )]
    Unknown(String),
    /// HEAD is detached and there is no branch others start from.
    #[error("there is no default branch to compare with")]
    NoBranch,
    /// HEAD and the default branch share no commit.
    #[error("HEAD and `{0}` have no commit in common; a shallow clone may lack it: git fetch --unshallow")]
    NothingInCommon(String),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Git {
    /// The commit a change is against: the given one, else where HEAD left the default branch. None without commits.
    pub async fn base(
        &self,
        given: Option<&str>,
        branch: Option<&str>,
    ) -> Result<Option<String>, BaseProblem> {
        if let Some(name) = given {
            let unknown = || BaseProblem::Unknown(countersign_core::text::visible_line(name).into_owned());
            return self.commit(name).await?.map(Some).ok_or_else(unknown);
        }
        let Some(head) = self.head().await? else { return Ok(None) };
        let branch = self.default_branch(branch).await?.ok_or(BaseProblem::NoBranch)?;
        let base = self.merge_base(&head, &branch.reference).await?;
        base.map(Some).ok_or(BaseProblem::NothingInCommon(branch.name))
    }

    pub async fn blob(&self, id: &str) -> Result<Vec<u8>> {
        self.run(["cat-file", "blob", id]).await
    }
}
