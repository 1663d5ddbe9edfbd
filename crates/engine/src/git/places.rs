//! Where a repository keeps its index and its objects.

use super::{Git, GitError, Result};
use std::path::{Path, PathBuf};

/// Where a repository keeps its index and its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The index of this worktree.
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
}
