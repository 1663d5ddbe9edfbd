//! Which worktree is the main one, as far as files alone tell.

use std::path::{Path, PathBuf};

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
