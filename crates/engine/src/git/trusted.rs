//! The files that a person trusts, as commits: the state of a remote's branch, asked at its pinned address, and the files
//! of a working tree, kept as a commit of our own.

use super::{Git, Result};
use crate::scratch::Scratch;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The ref that keeps trusted files from being collected as garbage.
const TRUSTED: &str = "refs/countersign/trusted";
/// How long the remote may take to answer.
const REMOTE_SECONDS: u64 = 3;
const REMOTE: &str = "origin";

/// A branch of a remote, by the address that a person has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedRemote {
    pub name: String,
    pub url: String,
    pub branch: String,
}

/// What is known of a remote's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteTip {
    /// The remote says so, and the commit is in this repository.
    Here(String),
    /// The remote says so, and the commit was not fetched yet.
    NotFetched,
    /// The remote has no such branch.
    Gone,
    /// The remote cannot be asked, and why.
    Unknown(String),
}

impl Git {
    /// The remote to pin, by the settings of the repository: `origin`, or the only one there is; none without a remote
    /// or without a known default branch.
    pub async fn remote_to_pin(&self) -> Result<Option<PinnedRemote>> {
        self.remote_on(None).await
    }

    /// The same with a branch that is known to be the default one.
    pub async fn remote_with(&self, branch: &str) -> Result<Option<PinnedRemote>> {
        self.remote_on(Some(branch)).await
    }

    async fn remote_on(&self, known: Option<&str>) -> Result<Option<PinnedRemote>> {
        let said = self.text(["remote"]).await?;
        let names: Vec<&str> = said.lines().collect();
        let name = match names[..] {
            _ if names.contains(&REMOTE) => REMOTE,
            [only] => only,
            _ => return Ok(None),
        };
        let Some(url) = self.maybe(["config", "--get", &format!("remote.{name}.url")]).await? else {
            return Ok(None);
        };
        let head = format!("refs/remotes/{name}/HEAD");
        let head = match known {
            Some(_) => None,
            None => self.maybe(["symbolic-ref", "--quiet", &head]).await?,
        };
        let prefix = format!("refs/remotes/{name}/");
        let named = head.and_then(|head| head.strip_prefix(&prefix).map(str::to_owned));
        let mut branch = known.map(str::to_owned).or(named);
        for usual in ["main", "master"] {
            if branch.is_none() && self.commit(&format!("{prefix}{usual}")).await?.is_some() {
                branch = Some(usual.to_owned());
            }
        }
        let url = absolute(&url, self.folder());
        Ok(branch.map(|branch| PinnedRemote { name: name.to_owned(), url, branch }))
    }

    /// The commit that was fetched last of a pinned branch.
    pub async fn fetched(&self, pinned: &PinnedRemote) -> Result<Option<String>> {
        self.commit(&format!("refs/remotes/{}/{}", pinned.name, pinned.branch)).await
    }

    /// Asks a remote for its branch, at the pinned address and with no setting of this repository or its user but the
    /// helpers that sign in.
    pub async fn remote_tip(&self, pinned: &PinnedRemote) -> RemoteTip {
        match self.asked_tip(pinned).await {
            Ok(None) => RemoteTip::Gone,
            Ok(Some(tip)) => match self.commit(&tip).await {
                Ok(Some(_)) => RemoteTip::Here(tip),
                _ => RemoteTip::NotFetched,
            },
            Err(error) => RemoteTip::Unknown(error.to_string()),
        }
    }

    async fn asked_tip(&self, pinned: &PinnedRemote) -> Result<Option<String>> {
        let folder = Scratch::new("remote").map_err(|error| {
            super::GitError::unexpected("ls-remote", format!("no folder for it could be made: {error}"))
        })?;
        let helpers =
            self.maybe(["config", "--global", "--get-all", "credential.helper"]).await.ok().flatten();
        let mut args: Vec<String> = vec![];
        for helper in helpers.iter().flat_map(|helpers| helpers.lines()) {
            args.extend(["-c".to_owned(), format!("credential.helper={helper}")]);
        }
        let reference = format!("refs/heads/{}", pinned.branch);
        args.extend(["ls-remote", "--quiet", "--", &pinned.url, &reference].map(str::to_owned));
        // The folder may be inside of a repository, whose settings could lead elsewhere: git looks no further up.
        let above = folder.path().canonicalize().ok();
        let above = above.as_deref().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
        let git = Self::at(folder.path()).alone().within_seconds(REMOTE_SECONDS);
        let git = git.with("GIT_CEILING_DIRECTORIES", above);
        let git = git.with("GIT_SSH_COMMAND", "ssh -o BatchMode=yes").with("GIT_ASKPASS", "true");
        let said = git.text(args).await?;
        let line = said.lines().find_map(|line| line.split_once('\t').filter(|(_, name)| *name == reference));
        Ok(line.map(|(commit, _)| commit.to_owned()))
    }

    /// Keeps a tree as the files that a person trusts.
    pub async fn keep_trusted(&self, tree: &str, parent: Option<&str>) -> Result<String> {
        let words = "countersign: a person trusts how these files judge work";
        let commit = self.own_commit(tree, parent, words).await?;
        let name = format!("{TRUSTED}/{}", &commit[..commit.len().min(20)]);
        self.run(["update-ref", "--no-deref", &name, &commit]).await?;
        Ok(commit)
    }

    /// The files as they are, as a tree of the repository, whatever the index says of them.
    pub async fn tree_of_files(&self) -> Result<String> {
        let failed = |error: std::io::Error| super::GitError::unexpected("write-tree", error.to_string());
        let folder = Scratch::shielded("trust").map_err(failed)?;
        let head = self.head().await?;
        let files = self.snapshot(head.as_deref(), folder.path(), None).await?;
        let compared = files.compare(folder.path()).await?;
        let tree = files.write_tree(&compared, &[".".to_owned()]).await?;
        compared.require_untouched()?;
        Ok(tree)
    }

    /// The paths that differ between two commits or trees, relative to the folder; what is outside of it is left out.
    pub async fn changed_between(&self, one: &str, other: &str) -> Result<Vec<String>> {
        let said = self.run(["diff-tree", "-r", "-z", "--name-only", "--relative", one, other]).await?;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The differences of these files between two commits or trees, as text.
    pub async fn diff_between(&self, one: &str, other: &str, paths: &[String]) -> Result<String> {
        let mut args: Vec<String> =
            "diff-tree -r -p --text --no-ext-diff --no-textconv --no-color --no-commit-id --relative"
                .split(' ')
                .map(str::to_owned)
                .collect();
        args.extend([one.to_owned(), other.to_owned(), "--".to_owned()]);
        args.extend(paths.iter().map(|path| format!(":(literal){path}")));
        Ok(String::from_utf8_lossy(&self.run(args).await?).into_owned())
    }

    /// All files of a commit or tree below the folder.
    pub async fn files_of(&self, commit: &str) -> Result<Vec<String>> {
        let said = self.run(["ls-tree", "-r", "-z", "--name-only", commit, "--", "."]).await?;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The files of a commit below the folder whose names match a pattern and whose text has a word, in any case.
    pub async fn files_with(&self, commit: &str, word: &str, pattern: &str) -> Result<Vec<String>> {
        let settings = ["-c", "grep.fullName=false", "-c", "submodule.recurse=false"];
        let ask = ["grep", "-l", "-z", "-i", "-F", "-e", word, commit, "--", pattern];
        let said = self.maybe(settings.iter().chain(&ask)).await?.unwrap_or_default();
        let named = said.split('\0').filter_map(|name| name.strip_prefix(commit)?.strip_prefix(':'));
        Ok(named.map(str::to_owned).collect())
    }

    /// The id of what a commit has at a path, relative to the folder; none where it has nothing there.
    pub async fn id_at(&self, commit: &str, path: &str) -> Result<Option<String>> {
        let said = self.text(["ls-tree", commit, "--", path]).await?;
        Ok(said.split_whitespace().nth(2).map(str::to_owned))
    }
}

/// A path of a repository on this machine means another folder elsewhere, so it is made absolute.
fn absolute(url: &str, folder: &Path) -> String {
    let is_path = !url.contains(':') && !url.starts_with('/');
    let path = || folder.join(url).canonicalize().ok().map(|path| path.to_string_lossy().into_owned());
    is_path.then(path).flatten().unwrap_or_else(|| url.to_owned())
}
