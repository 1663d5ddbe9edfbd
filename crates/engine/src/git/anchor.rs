//! Anchors: what passed last on a branch, kept as a commit under `refs/countersign/passed`. The next review of the branch
//! begins there.
//! The commit holds the tree that passed, and its parent is what was checked out then. It is on no branch and is
//! never pushed by a plain `git push`.

use super::places::plain_head;
use super::{BaseProblem, Git, GitError, Result};
use crate::scratch::Scratch;
use countersign_core::digest::Digest;

const FOLDER: &str = "refs/countersign/passed";
/// What git says in place of a branch.
const DETACHED: &str = "HEAD";
const NAME_LETTERS: usize = 20;
/// A fixed identity and time: the same tree and parent give the same commit on every machine.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "countersign"),
    ("GIT_AUTHOR_EMAIL", "countersign@localhost"),
    ("GIT_AUTHOR_DATE", "@0 +0000"),
    ("GIT_COMMITTER_NAME", "countersign"),
    ("GIT_COMMITTER_EMAIL", "countersign@localhost"),
    ("GIT_COMMITTER_DATE", "@0 +0000"),
];

/// What passed last on a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub commit: String,
    pub tree: String,
    /// What was checked out then; none before the first commit.
    pub parent: Option<String>,
}

/// Where a worktree is: what is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The commit that is checked out; none before the first.
    pub head: Option<String>,
    /// The branch; none where HEAD is detached.
    pub branch: Option<String>,
    /// The name anchors are kept by: the branch, or the worktree where none is checked out.
    place: String,
}

impl Checkout {
    /// The name by which anchors of this place are kept: a digest, because a branch `a/b` may come after one called `a`.
    pub fn anchor_name(&self) -> String {
        Digest::of(self.place.as_bytes()).as_str().chars().take(NAME_LETTERS).collect()
    }
}

impl Git {
    /// Finds out what is checked out: by the files of the repository, else by asking git.
    pub async fn checkout(&self) -> Result<Checkout> {
        let (head, branch) = match plain_head(self.folder()) {
            Some((branch, head)) => (Some(head), branch),
            None => self.asked_head().await?,
        };
        let branch = branch.map(|branch| branch.strip_prefix("refs/heads/").unwrap_or(&branch).to_owned());
        let place = match &branch {
            Some(name) => format!("branch {name}"),
            None => format!("detached in {}", self.folder().to_string_lossy()),
        };
        Ok(Checkout { head, branch, place })
    }

    async fn asked_head(&self) -> Result<(Option<String>, Option<String>)> {
        match self.maybe(["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]).await {
            Ok(said) => {
                let said = said.unwrap_or_default();
                let (head, branch) = said.split_once('\n').unwrap_or((&said, DETACHED));
                Ok((Some(head.to_owned()), Some(branch.to_owned()).filter(|branch| branch != DETACHED)))
            }
            Err(GitError::Failed { .. }) => {
                Ok((None, self.maybe(["symbolic-ref", "--quiet", "HEAD"]).await?))
            }
            Err(error) => Err(error),
        }
    }

    /// An anchor by its commit; none where that is not there any more.
    pub async fn anchor(&self, commit: &str) -> Result<Option<Anchor>> {
        let name = format!("{commit}^{{commit}}");
        let args =
            ["log", "-1", "--no-show-signature", "--format=%H %T %P", "--end-of-options", name.as_str()];
        match self.text(args).await {
            Ok(said) => Ok(anchor(&said)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How many commits came after one in the history of another; none where it is not in that history.
    pub async fn distance(&self, from: &str, to: &str) -> Result<Option<u64>> {
        if from == to {
            return Ok(Some(0));
        }
        if !self.is_ancestor(from, to).await? {
            return Ok(None);
        }
        let count = self.text(["rev-list", "--count", &format!("{from}..{to}")]).await?;
        Ok(count.parse().ok())
    }

    /// Makes a commit of ours, which is on no branch.
    pub(super) async fn own_commit(&self, tree: &str, parent: Option<&str>, words: &str) -> Result<String> {
        let git = IDENTITY.iter().fold(self.clone(), |git, (name, value)| git.with(*name, *value));
        let mut args = vec!["commit-tree", "--no-gpg-sign", "-m", words];
        args.extend(parent.iter().flat_map(|parent| ["-p", parent]));
        args.push(tree);
        git.text(args).await
    }

    /// Keeps a tree as what passed last. `words` is the commit message.
    pub async fn set_anchor(
        &self,
        at: &Checkout,
        before: Option<&Anchor>,
        tree: &str,
        parent: Option<&str>,
        words: &str,
    ) -> Result<Anchor> {
        let commit = self.own_commit(tree, parent, words).await?;
        let name = format!("{FOLDER}/{}", at.anchor_name());
        if before.is_none_or(|anchor| anchor.commit != commit) {
            self.run(["update-ref", "--no-deref", name.as_str(), commit.as_str()]).await?;
        }
        Ok(Anchor { commit, tree: tree.to_owned(), parent: parent.map(str::to_owned) })
    }

    /// What the work at a standpoint is compared with: what passed last, as long as that is part of its history. After a
    /// rewrite of history it is where HEAD left the default branch; on that branch itself, the last commit that old and new
    /// history share.
    pub async fn since(&self, at: &Checkout, anchor: Option<&Anchor>) -> Result<Option<String>, BaseProblem> {
        let Some(anchor) = anchor else { return self.base(None, None).await };
        let (Some(head), Some(parent)) = (&at.head, &anchor.parent) else {
            // No commit is older than an anchor from before the first commit.
            return Ok(Some(anchor.commit.clone()));
        };
        if self.is_ancestor(parent, head).await? {
            return Ok(Some(anchor.commit.clone()));
        }
        let usual = self.base(None, None).await?;
        if usual.as_ref() != Some(head) {
            return Ok(usual);
        }
        // A history of its own has no common ancestor, and nothing of it was looked at.
        let common = self.merge_base(parent, head).await.ok().flatten();
        Ok(common.or_else(|| Some(anchor.commit.clone())))
    }

    async fn is_ancestor(&self, one: &str, of: &str) -> Result<bool> {
        if one == of {
            return Ok(true);
        }
        match self.run(["merge-base", "--is-ancestor", one, of]).await {
            Ok(_) => Ok(true),
            // 1 is no; 128 is a commit that is not there any more.
            Err(GitError::Failed { code: Some(1 | 128), .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Keeps a commit as where work begins, where there is no anchor yet.
    pub async fn begin_at(&self, at: &Checkout, commit: Option<&str>) -> Result<Anchor> {
        let tree = match commit {
            Some(commit) => {
                self.text(["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")])
                    .await?
            }
            None => self.empty_tree().await?,
        };
        self.set_anchor(at, None, &tree, commit, "countersign: work is looked at from here on").await
    }

    /// Takes files into an anchor as they are, after a person has seen them.
    pub async fn vouch(&self, at: &Checkout, anchor: &Anchor, files: &[&str]) -> Result<Anchor> {
        let failed = |error: std::io::Error| GitError::unexpected("read-tree", error.to_string());
        let folder = Scratch::shielded("change").map_err(failed)?;
        let git = self.clone().with("GIT_INDEX_FILE", folder.path().join("index"));
        git.run(["read-tree", anchor.tree.as_str()]).await?;
        let literal = files.iter().map(|file| format!(":(literal){file}"));
        git.run(["add", "-A", "-f", "--"].map(str::to_owned).into_iter().chain(literal)).await?;
        let tree = git.text(["write-tree"]).await?;
        let words = "countersign: a person has seen the files of the gate";
        self.set_anchor(at, Some(anchor), &tree, anchor.parent.as_deref(), words).await
    }
}

/// Reads commit, tree and parents. One with several parents is not ours.
fn anchor(said: &str) -> Option<Anchor> {
    let (commit, tree, parent) = match said.split_whitespace().collect::<Vec<_>>()[..] {
        [commit, tree] => (commit, tree, None),
        [commit, tree, parent] => (commit, tree, Some(parent.to_owned())),
        _ => return None,
    };
    Some(Anchor { commit: commit.to_owned(), tree: tree.to_owned(), parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_checked_out() {
        let repository = countersign_testkit::Repository::new();
        let git = Git::at(repository.root());
        let at = |head: Option<&str>, branch: Option<&str>, place: &str| Checkout {
            head: head.map(str::to_owned),
            branch: branch.map(str::to_owned),
            place: place.to_owned(),
        };
        let branch = repository.git(["symbolic-ref", "--short", "HEAD"]);
        let place = format!("branch {branch}");
        assert_eq!(git.checkout().await.unwrap(), at(None, Some(&branch), &place));
        let head = repository.write("a.md", "a").commit("first");
        assert_eq!(git.checkout().await.unwrap(), at(Some(&head), Some(&branch), &place));
        repository.git(["checkout", "-q", "-b", "a/b"]);
        assert_eq!(git.checkout().await.unwrap(), at(Some(&head), Some("a/b"), "branch a/b"));
        repository.git(["checkout", "-q", "--detach"]);
        let place = format!("detached in {}", repository.root().to_string_lossy());
        assert_eq!(git.checkout().await.unwrap(), at(Some(&head), None, &place));
    }

    #[test]
    fn an_anchor_has_one_parent_or_none() {
        let of = |parent: Option<&str>| {
            Some(Anchor { commit: "cc".into(), tree: "tt".into(), parent: parent.map(str::to_owned) })
        };
        for (said, expected) in
            [("cc tt pp", of(Some("pp"))), ("cc tt ", of(None)), ("cc tt pp qq", None), ("", None)]
        {
            assert_eq!(anchor(said), expected, "{said}");
        }
        let at = |place: &str| Checkout { place: place.into(), head: None, branch: None };
        assert_ne!(at("branch a").anchor_name(), at("branch a/b").anchor_name());
    }
}
