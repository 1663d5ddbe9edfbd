//! The worktrees of a repository.

use super::{Git, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// The commit it has checked out; none before the first.
    pub head: Option<String>,
    /// The branch it has checked out; none where HEAD is detached.
    pub branch: Option<String>,
    /// Whether its folder is gone.
    pub is_prunable: bool,
}

impl Git {
    pub async fn worktrees(&self) -> Result<Vec<Worktree>> {
        Ok(listed(&self.run(["worktree", "list", "--porcelain", "-z"]).await?))
    }
}

fn listed(said: &[u8]) -> Vec<Worktree> {
    let mut all: Vec<Worktree> = vec![];
    for line in said.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            all.push(Worktree { path: OsStr::from_bytes(path).into(), ..Worktree::default() });
            continue;
        }
        let (Some(last), Ok(line)) = (all.last_mut(), std::str::from_utf8(line)) else { continue };
        match line.split_once(' ').unwrap_or((line, "")) {
            // Before the first commit it is all zeros.
            ("HEAD", id) => last.head = id.contains(|c| c != '0').then(|| id.to_owned()),
            ("branch", name) => {
                last.branch = Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned());
            }
            ("prunable", _) => last.is_prunable = true,
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worktree_with_its_branch() {
        let said =
            b"worktree /a\nb\0HEAD aa\0branch refs/heads/task/x\0\0worktree /gone\0HEAD 00\0detached\0\
            prunable gitdir file points to non-existent location\0\0";
        let one = Worktree {
            path: "/a\nb".into(),
            head: Some("aa".into()),
            branch: Some("task/x".into()),
            is_prunable: false,
        };
        let gone = Worktree { path: "/gone".into(), is_prunable: true, ..Worktree::default() };
        assert_eq!(listed(said), [one, gone]);
    }
}
