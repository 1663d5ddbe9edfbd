//! Where a repository keeps what: its worktree, index and objects.

use super::{Git, GitError};
use std::path::PathBuf;

/// The id of the tree without entries, which every repository knows.
const EMPTY_TREE_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Where a repository keeps what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The root of this worktree.
    pub worktree: PathBuf,
    /// The index of this worktree.
    pub index: PathBuf,
    /// The objects, which all worktrees share.
    pub objects: PathBuf,
    /// The tree without entries.
    pub empty_tree: &'static str,
}

impl Git {
    /// Finds out where the repository around the folder keeps what. One process.
    pub async fn places(&self) -> Result<Places, GitError> {
        let ask = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index"];
        let more = ["--git-path", "objects", "--show-object-format"];
        let said = self.text(ask.into_iter().chain(more)).await?;
        let lines: Vec<&str> = said.split('\n').collect();
        // A line break in a path of the repository itself would be a fifth line.
        let [worktree, index, objects, format] = lines[..] else {
            return Err(GitError::unexpected("rev-parse", "the path of the repository has a line break"));
        };
        let empty_tree = match format {
            "sha1" => EMPTY_TREE_SHA1,
            "sha256" => EMPTY_TREE_SHA256,
            other => return Err(GitError::unexpected("rev-parse", format!("object format `{other}`"))),
        };
        Ok(Places { worktree: worktree.into(), index: index.into(), objects: objects.into(), empty_tree })
    }
}
