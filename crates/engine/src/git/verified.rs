//! Files of a commit, compared with its id from the commit on.

use super::objects::{FOLDER, Object, Objects, missing};
use super::{Git, GitError, Result};
use std::path::{Component, Path};

impl Git {
    /// A file as it was at a commit; none where it was not there. The path is relative to the folder.
    pub async fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.first_file_at(commit, &[path]).await?.map(|(_, bytes)| bytes))
    }

    /// The first of these files that was there at a commit, and which it is. Paths are relative to the folder. One process,
    /// which also reads the folders on the way: everything from the commit on is compared with its id.
    pub async fn first_file_at(&self, commit: &str, paths: &[&str]) -> Result<Option<(usize, Vec<u8>)>> {
        let mut objects = self.objects()?;
        let root = objects.root(commit).await?;
        let prefix = self.prefix();
        for (which, path) in paths.iter().enumerate() {
            let names = parts(&format!("{prefix}/{path}"));
            let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
            match objects.at(&root, &names).await? {
                None => {}
                Some((mode, object)) if mode == "100644" || mode == "100755" => {
                    return Ok(Some((which, object.bytes)));
                }
                // A link is not followed: what it leads to is not of that commit.
                Some(_) => {
                    let words = format!("`{path}` is not a file in commit {commit}");
                    return Err(GitError::unexpected("ls-tree", words));
                }
            }
        }
        Ok(None)
    }

    /// Compares a commit and all its trees with their ids. What `ls-tree` and `read-tree` say of it is true then.
    pub async fn verify_trees(&self, commit: &str) -> Result<()> {
        let mut objects = self.objects()?;
        let mut level = vec![objects.root(commit).await?];
        while !level.is_empty() {
            level = below(&mut objects, &level).await?;
        }
        Ok(())
    }

    /// The path of the folder in its worktree.
    fn prefix(&self) -> String {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        let top = folder.ancestors().find(|folder| super::is_repository(folder));
        let below = top.and_then(|top| folder.strip_prefix(top).ok());
        below.map(|below| below.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The trees in these trees.
async fn below(objects: &mut Objects, trees: &[Object]) -> Result<Vec<Object>> {
    let of = |tree: &Object| -> Vec<String> {
        tree.entries().filter(|entry| entry.mode == FOLDER).map(|entry| entry.id()).collect()
    };
    let mut ids: Vec<String> = trees.iter().flat_map(of).collect();
    ids.sort();
    ids.dedup();
    let found = objects.get(&ids).await?;
    ids.iter().zip(found).map(|(id, object)| object.ok_or_else(|| missing(id))).collect()
}

/// The names on a path, without `.` and with `..` taken away.
fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![];
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::Repository;
    use std::io::Write as _;

    #[tokio::test]
    async fn files_are_found_at_a_commit_from_any_folder() {
        let repository = Repository::new();
        repository.write("a.md", "top\n").write("x/y/b.md", "below\n").write("x/c.md", "");
        std::os::unix::fs::symlink("a.md", repository.path("link")).unwrap();
        let commit = repository.commit("all");
        let at = |folder: &str| Git::at(&repository.path(folder));
        for (folder, path, found) in [
            ("", "a.md", Some("top\n")),
            ("", "./a.md", Some("top\n")),
            ("", "x/y/b.md", Some("below\n")),
            ("x", "y/b.md", Some("below\n")),
            ("x/y", "b.md", Some("below\n")),
            ("x/y", "../../a.md", Some("top\n")),
            ("", "x/c.md", Some("")),
            ("", "none.md", None),
            ("", "x/none/b.md", None),
            ("x", "a.md", None),
        ] {
            let bytes = at(folder).file_at(&commit, path).await.unwrap();
            assert_eq!(bytes.as_deref(), found.map(str::as_bytes), "{folder} {path}");
        }
        for path in ["link", "x", "a.md/b"] {
            let found = at("").file_at(&commit, path).await;
            assert!(found.is_err() || path == "a.md/b", "{path}: {found:?}");
        }
        let (which, bytes) = at("x").first_file_at(&commit, &["none", "c.md"]).await.unwrap().unwrap();
        assert_eq!((which, bytes), (1, vec![]));
        at("").verify_trees(&commit).await.unwrap();
        assert!(at("").file_at("0000000000000000000000000000000000000000", "a.md").await.is_err());
    }

    /// Gives an object other contents.
    fn forge(repository: &Repository, id: &str, kind: &str, bytes: &[u8]) {
        let path = repository.path(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        let other = tempfile::NamedTempFile::new().unwrap();
        other.as_file().write_all(bytes).unwrap();
        let made = repository.git(["hash-object", "-t", kind, "-w", other.path().to_str().unwrap()]);
        let made = repository.path(format!(".git/objects/{}/{}", &made[..2], &made[2..]));
        std::fs::remove_file(&path).unwrap();
        std::fs::copy(made, path).unwrap();
    }

    #[tokio::test]
    async fn attack_18_forged_blobs_trees_and_commits_are_refused() {
        for kind in ["blob", "tree", "commit"] {
            let repository = Repository::new();
            let weak = repository.write("x/a.md", "weak\n").commit("weak");
            let commit = repository.write("x/a.md", "strict\n").commit("strict");
            let of = match kind {
                "blob" => ":x/a.md",
                "tree" => ":x",
                _ => "",
            };
            let id = repository.git(["rev-parse", &format!("{commit}{of}")]);
            let source = repository.git(["rev-parse", &format!("{weak}{of}")]);
            let said = std::process::Command::new("git")
                .args(["cat-file", kind, &source])
                .current_dir(repository.root())
                .output()
                .unwrap();
            forge(&repository, &id, kind, &said.stdout);
            // Git itself believes it.
            assert_eq!(repository.git(["show", &format!("{commit}:x/a.md")]), "weak", "{kind}");
            let git = Git::at(repository.root());
            let error = git.file_at(&commit, "x/a.md").await.unwrap_err().to_string();
            // Of a commit git itself says that it is none.
            let refusals = ["not what its id says", "there is no commit"];
            assert!(refusals.iter().any(|words| error.contains(words)), "{kind}: {error}");
            assert_eq!(git.verify_trees(&commit).await.is_err(), kind != "blob", "{kind}");
            assert!(git.objects().unwrap().one(&id).await.is_err(), "{kind}");
        }
    }
}
