//! What a commit would contain now: the index as a tree. The index itself is only copied.

use super::{Git, GitError, Result};
use crate::scratch::Scratch;
use std::io::{Error, ErrorKind};
use std::path::Path;

const COMMAND: &str = "write-tree";

impl Git {
    /// The index as a tree of the repository. A hook of git that commits a part has another index than the usual one.
    pub async fn staged_tree(&self, index: Option<&Path>) -> Result<String> {
        let failed = |error: Error| GitError::unexpected(COMMAND, error.to_string());
        let folder = Scratch::shielded("staged").map_err(failed)?;
        let copy = folder.path().join("index");
        let index = match index {
            Some(index) => index.to_owned(),
            None => self.places().await?.index,
        };
        match std::fs::copy(&index, &copy) {
            Ok(_) => {}
            // Nothing was ever staged.
            Err(error) if error.kind() == ErrorKind::NotFound => return self.empty_tree().await,
            Err(error) => return Err(failed(error)),
        }
        self.clone().with("GIT_INDEX_FILE", &copy).text([COMMAND]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::Repository;

    #[tokio::test]
    async fn the_tree_has_what_is_staged_and_nothing_else() {
        let repository = Repository::new();
        repository.write("a.txt", "one\n").commit("first");
        let git = Git::at(repository.root());
        repository.write("a.txt", "two\n");
        assert_eq!(git.staged_tree(None).await.unwrap(), repository.git(["rev-parse", "HEAD^{tree}"]));
        repository.git(["add", "a.txt"]);
        repository.write("a.txt", "three\n").write("new.txt", "");
        let before = std::fs::read(repository.path(".git/index")).unwrap();
        let tree = git.staged_tree(None).await.unwrap();
        assert_eq!(repository.git(["show", &format!("{tree}:a.txt")]), "two");
        assert_eq!(git.files_of(&tree).await.unwrap(), ["a.txt"]);
        assert_eq!(std::fs::read(repository.path(".git/index")).unwrap(), before);
    }
}
