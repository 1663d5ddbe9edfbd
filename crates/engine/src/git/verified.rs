//! Objects that are compared with their ids. Git does not do that when it reads: whoever writes into the folder of a
//! repository can give an object other contents under the same id.

use super::{Git, GitError, Result};
use sha1::Digest as _;
use std::fmt::Write as _;
use std::path::{Component, Path};

const COMMAND: &str = "cat-file";
const SHA1_LETTERS: usize = 40;
/// How many objects one process reads: its output is limited.
const AT_ONCE: usize = 2048;

/// An object whose contents are what its id says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    id: String,
    kind: String,
    bytes: Vec<u8>,
}

impl Object {
    /// Whether it is this tree, or a commit with it.
    fn has_tree(&self, tree: &Self) -> bool {
        match self.kind.as_str() {
            "tree" => self.id == tree.id,
            "commit" => tree_of(&self.bytes) == Some(tree.id.as_str()),
            _ => false,
        }
    }
}

/// One entry of a tree.
struct Entry<'a> {
    mode: &'a str,
    name: &'a [u8],
    id: String,
}

impl Git {
    /// A file as it was at a commit; none where it was not there. The path is relative to the folder.
    pub async fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.first_file_at(commit, &[path]).await?.map(|(_, bytes)| bytes))
    }

    /// The first of these files that was there at a commit, and which it is. Paths are relative to the folder. One process,
    /// which also reads the folders on the way: everything from the commit on is compared with its id.
    pub async fn first_file_at(&self, commit: &str, paths: &[&str]) -> Result<Option<(usize, Vec<u8>)>> {
        let prefix = self.prefix();
        let mut names = vec![commit.to_owned(), format!("{commit}^{{tree}}")];
        let mut ways = vec![];
        for path in paths {
            let whole = parts(&format!("{prefix}/{path}"));
            let way: Vec<String> = (1..=whole.len()).map(|n| whole[..n].join("/")).collect();
            names.extend(way.iter().map(|way| format!("{commit}:{way}")));
            ways.push(whole);
        }
        let mut found = self.objects(&names).await?.into_iter();
        let forged =
            |what: &str| GitError::unexpected(COMMAND, format!("{what} of {commit} is not what its id says"));
        let (Some(Some(top)), Some(Some(root))) = (found.next(), found.next()) else {
            return Err(GitError::unexpected(COMMAND, format!("there is no commit {commit}")));
        };
        let is_id = commit.len() >= SHA1_LETTERS && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if (is_id && top.id != commit) || !top.has_tree(&root) {
            return Err(forged("the tree"));
        }
        for (which, way) in ways.iter().enumerate() {
            let on_way: Vec<Option<Object>> = found.by_ref().take(way.len()).collect();
            let mut folder = &root;
            for (n, (name, object)) in way.iter().zip(&on_way).enumerate() {
                let entry =
                    entries(&folder.bytes, folder.id.len()).find(|entry| entry.name == name.as_bytes());
                let path = way[..=n].join("/");
                match (entry, object) {
                    (None, None) => break,
                    (Some(entry), Some(object)) if entry.id == object.id => {
                        match (n + 1 == way.len(), entry.mode) {
                            (false, "40000") => folder = object,
                            (true, "100644" | "100755") => return Ok(Some((which, object.bytes.clone()))),
                            // A link is not followed: what it leads to is not of that commit.
                            _ => {
                                let words = format!("`{path}` is not a file in commit {commit}");
                                return Err(GitError::unexpected("ls-tree", words));
                            }
                        }
                    }
                    _ => return Err(forged(&format!("`{path}`"))),
                }
            }
        }
        Ok(None)
    }

    /// Compares a commit and all its trees with their ids. What `ls-tree` and `read-tree` say of it is true then.
    pub async fn verify_trees(&self, commit: &str) -> Result<()> {
        let listed = ["ls-tree", "-r", "-d", "-z", "--full-tree", "--object-only", commit];
        let listed = self.run(listed).await?;
        let listed = listed.split(|byte| *byte == 0).filter(|id| !id.is_empty());
        // A submodule is listed too, and its commit is in another repository.
        self.verify(listed.map(|id| String::from_utf8_lossy(id).into_owned())).await?;
        let top = self.objects(&[commit.to_owned(), format!("{commit}^{{tree}}")]).await?;
        match &top[..] {
            [Some(one), Some(root)] if one.has_tree(root) => Ok(()),
            _ => Err(GitError::unexpected(COMMAND, format!("there is no commit {commit}"))),
        }
    }

    /// Compares these objects with their ids; those that are not there are left out.
    pub async fn verify(&self, ids: impl IntoIterator<Item = String>) -> Result<()> {
        let mut ids: Vec<String> = ids.into_iter().collect();
        ids.sort();
        ids.dedup();
        for some in ids.chunks(AT_ONCE) {
            self.objects(some).await?;
        }
        Ok(())
    }

    /// The objects of these names, each compared with its id; none where a name stands for none. One process.
    async fn objects(&self, names: &[String]) -> Result<Vec<Option<Object>>> {
        if names.iter().any(|name| name.contains('\n')) {
            return Err(GitError::unexpected(COMMAND, "a name has a line break"));
        }
        let input = names.iter().fold(String::new(), |text, name| text + name + "\n");
        let said = self.clone().with_input(input).run([COMMAND, "--batch"]).await?;
        let mut rest = said.as_slice();
        let mut all = vec![];
        for name in names {
            let object = next(&mut rest)
                .ok_or_else(|| GitError::unexpected(COMMAND, format!("it does not say what `{name}` is")))?;
            if let Some(Object { id, kind, bytes }) = &object
                && hash(kind, bytes, id.len()) != *id
            {
                let words = format!(
                    "the contents of object {id} are not what its id says: the repository was tampered with or is damaged"
                );
                return Err(GitError::unexpected(COMMAND, words));
            }
            all.push(object);
        }
        Ok(all)
    }

    /// The path of the folder in its worktree.
    fn prefix(&self) -> String {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        let top = folder.ancestors().find(|folder| super::is_repository(folder));
        let below = top.and_then(|top| folder.strip_prefix(top).ok());
        below.map(|below| below.to_string_lossy().into_owned()).unwrap_or_default()
    }
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

/// The next object that git prints: a line with its id, kind and size, then its contents.
fn next(rest: &mut &[u8]) -> Option<Option<Object>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = (std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]);
    if line.ends_with(" missing") {
        *rest = after;
        return Some(None);
    }
    let [id, kind, size] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
    let size: usize = size.parse().ok()?;
    let bytes = after.get(..size)?.to_vec();
    *rest = after.get(size + 1..)?;
    Some(Some(Object { id: id.to_owned(), kind: kind.to_owned(), bytes }))
}

fn hash(kind: &str, bytes: &[u8], letters: usize) -> String {
    let header = format!("{kind} {}\0", bytes.len());
    match letters {
        SHA1_LETTERS => hex(&sha1::Sha1::new().chain_update(header).chain_update(bytes).finalize()),
        _ => hex(&sha2::Sha256::new().chain_update(header).chain_update(bytes).finalize()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The tree that a commit names in its first line.
fn tree_of(commit: &[u8]) -> Option<&str> {
    let line = commit.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix("tree ")
}

/// The entries of a tree: mode, name, a zero byte, and the id in bytes.
fn entries(tree: &[u8], letters: usize) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = tree;
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let head = &rest[..end];
        let id = rest.get(end + 1..end + 1 + letters / 2)?;
        let space = head.iter().position(|byte| *byte == b' ')?;
        rest = &rest[end + 1 + letters / 2..];
        Some(Entry { mode: std::str::from_utf8(&head[..space]).ok()?, name: &head[space + 1..], id: hex(id) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::Repository;
    use std::io::Write as _;

    #[test]
    fn ids_are_those_of_git() {
        assert_eq!(hash("blob", b"", SHA1_LETTERS), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hash("tree", b"", SHA1_LETTERS), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let sha256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert_eq!(hash("blob", b"", sha256.len()), sha256);
    }

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
            assert!(git.verify([id]).await.is_err(), "{kind}");
        }
    }
}
