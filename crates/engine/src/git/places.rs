//! Where a repository keeps its index and its objects, which worktree is its main one, and which files it tracks.

use super::{Git, GitError, Result};
use std::path::{Path, PathBuf};

/// Where a repository keeps its index and its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    pub index: PathBuf,
    /// The objects, which all worktrees share.
    pub objects: PathBuf,
}

impl Git {
    /// Finds them by two small files; where those do not tell, git is asked.
    pub async fn places(&self) -> Result<Places> {
        if let Some(places) = plain(self.folder()) {
            return Ok(places);
        }
        let ask = ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects"];
        let said = self.text(ask).await?;
        let lines: Vec<&str> = said.split('\n').collect();
        // A line break in a path of the repository itself would be a third line.
        let [index, objects] = lines[..] else {
            return Err(GitError::unexpected("rev-parse", "the path of the repository has a line break"));
        };
        Ok(Places { index: index.into(), objects: objects.into() })
    }

    /// The id of the tree without entries, which every repository knows.
    pub async fn empty_tree(&self) -> Result<String> {
        self.text(["hash-object", "-t", "tree", "/dev/null"]).await
    }
}

/// The places of a worktree whose root the folder is; none unless everything is there that makes git take it for one.
fn plain(folder: &Path) -> Option<Places> {
    if !folder.is_absolute() {
        return None;
    }
    let git = folder.join(".git");
    let own = match git.is_dir() {
        true => git,
        // A linked worktree, or a submodule: a file says where the rest is.
        false => {
            folder.join(std::fs::read_to_string(git).ok()?.strip_prefix("gitdir: ")?.strip_suffix('\n')?)
        }
    };
    let common = match std::fs::read_to_string(own.join("commondir")) {
        Ok(path) => own.join(path.strip_suffix('\n')?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => own.clone(),
        Err(_) => return None,
    };
    let objects = common.join("objects");
    let is_one = own.join("HEAD").is_file() && objects.is_dir() && common.join("refs").is_dir();
    is_one.then(|| Places { index: own.join("index"), objects })
}

/// Whether a folder is the root of a worktree, as far as files alone tell.
pub fn is_repository(root: &Path) -> bool {
    let git = root.join(".git");
    git.is_file() || git.join("HEAD").is_file()
}

/// The path of a folder in the worktree that it is in, with a `/` at its end; empty for the root and outside of git. Projects
/// of one repository share a ledger, and are told apart by it.
pub fn path_in_worktree(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let top = real.ancestors().find(|folder| is_repository(folder));
    match top.and_then(|top| real.strip_prefix(top).ok()) {
        Some(path) if path != Path::new("") => format!("{}/", path.to_string_lossy()),
        _ => String::new(),
    }
}

impl Git {
    /// What the index holds at a path or below it, relative to the folder of this git. One process.
    pub async fn tracked(&self, path: &str) -> Result<Vec<String>> {
        let pathspec = format!(":(literal){path}");
        let said = self.run(["ls-files", "-z", "--", pathspec.as_str()]).await?;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}

/// The root of the main worktree around a folder; none outside of git.
///
/// A linked worktree has a `.git` file that names its own folder inside the main repository, and that folder
/// has a `commondir` file. Reading two small files is quicker than starting git for every command.
pub fn main_worktree(start: &Path) -> Option<PathBuf> {
    let worktree = start.ancestors().find(|folder| folder.join(".git").exists())?;
    let linked = || -> Option<PathBuf> {
        let pointer = std::fs::read_to_string(worktree.join(".git")).ok()?;
        let own = worktree.join(pointer.strip_prefix("gitdir:")?.trim());
        let common = std::fs::read_to_string(own.join("commondir")).ok()?;
        let common = own.join(common.trim()).canonicalize().ok()?;
        // A bare repository has no main worktree; each linked one then stands for itself.
        (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
    };
    Some(linked().unwrap_or_else(|| worktree.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        let done = Command::new("git").current_dir(folder).args(identity).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A folder inside it has no `.git`, so git itself is asked from there; both have to mean the same.
    async fn is_found(root: &Path) {
        let files = plain(root).unwrap();
        std::fs::create_dir_all(root.join("inside")).unwrap();
        assert_eq!(plain(&root.join("inside")), None);
        let asked = Git::at(&root.join("inside")).places().await.unwrap();
        let real =
            |path: &Path| path.parent().unwrap().canonicalize().unwrap().join(path.file_name().unwrap());
        assert_eq!(real(&files.index), real(&asked.index));
        assert_eq!(real(&files.objects), real(&asked.objects));
    }

    #[tokio::test]
    async fn files_say_what_git_says() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let main = outer.join("main");
        std::fs::create_dir_all(&main).unwrap();
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&main, &["worktree", "add", "-q", "../linked"]);
        let submodule = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../main", "sub"];
        let with_sub = outer.join("with sub");
        std::fs::create_dir_all(&with_sub).unwrap();
        git(&with_sub, &["init", "-q"]);
        git(&with_sub, &submodule);
        for root in [&main, &outer.join("linked"), &with_sub.join("sub")] {
            is_found(root).await;
        }
    }

    #[tokio::test]
    async fn what_is_no_repository_is_asked_of_git() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        git(&outer, &["init", "-q"]);
        // Git takes this folder for a part of the one around it.
        let inner = outer.join("inner");
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        assert_eq!(plain(&inner), None);
        assert_eq!(Git::at(&inner).places().await.unwrap().index, outer.join(".git/index"));
        assert_eq!(plain(Path::new(".")), None);
    }

    #[test]
    fn worktrees_share_the_main_one() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        assert_eq!(main_worktree(&outer), None);
        let main = outer.join("main");
        std::fs::create_dir_all(main.join("docs")).unwrap();
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&main, &["worktree", "add", "-q", "../linked"]);
        assert_eq!(main_worktree(&main.join("docs")), Some(main.clone()));
        assert_eq!(main_worktree(&outer.join("linked")), Some(main));
    }
}
