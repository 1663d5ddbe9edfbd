//! What differs between the last commit, the index and the files; and the worktrees of a repository.

use super::{Git, GitError, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In the index, or in the files, other than before.
    Changed,
    /// Not known to git, and not ignored.
    Untracked,
    Unmerged,
}

/// One path that is not as it was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// Relative to the root of the worktree; bytes that are not UTF-8 replaced.
    pub path: String,
    pub status: Status,
    /// Whether the index differs from the last commit.
    pub is_staged: bool,
    /// Whether the file differs from the index, or is not in it.
    pub is_open: bool,
}

impl Git {
    /// What differs, and is not ignored. One process; the index is left as it is.
    pub async fn status(&self) -> Result<Vec<StatusEntry>> {
        const STATUS: &str =
            "status --porcelain=v2 -z --untracked-files=all --ignore-submodules=none --no-renames";
        let said = self.run(STATUS.split_whitespace()).await?;
        entries(&said)
    }
}

/// Reads porcelain v2 without renames: `1 XY … path`, `u XY … path`, `? path`.
fn entries(said: &[u8]) -> Result<Vec<StatusEntry>> {
    let unexpected = |line: &[u8]| GitError::unexpected("status", String::from_utf8_lossy(line));
    let mut entries = vec![];
    for line in said.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let (fields, status) = match line[0] {
            b'1' => (9, Status::Changed),
            b'u' => (11, Status::Unmerged),
            b'?' => (2, Status::Untracked),
            b'#' => continue,
            _ => return Err(unexpected(line)),
        };
        let mut parts = line.splitn(fields, |byte| *byte == b' ');
        let xy = parts.nth(1).filter(|xy| status == Status::Changed && xy.len() == 2);
        let is_staged = xy.is_some_and(|xy| xy[0] != b'.');
        let is_open = xy.is_none_or(|xy| xy[1] != b'.');
        let path = if fields == 2 { Some(&line[2..]) } else { parts.last() };
        let path = path.filter(|path| !path.is_empty()).ok_or_else(|| unexpected(line))?;
        entries.push(StatusEntry {
            path: String::from_utf8_lossy(path).into_owned(),
            status,
            is_staged,
            is_open,
        });
    }
    Ok(entries)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// The commit it has checked out; none before the first.
    pub head: Option<String>,
    /// The branch it has checked out; none where HEAD is detached.
    pub branch: Option<String>,
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
    fn every_kind_of_line_is_read() {
        let said =
            b"1 M. N... 100644 100644 100644 aa bb a b\n c\x001 .D N... 100644 100644 000000 aa aa gone\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both sides\0? new file\xff\0";
        let entry = |path: &str, status, is_staged, is_open| StatusEntry {
            path: path.to_owned(),
            status,
            is_staged,
            is_open,
        };
        let expected = [
            entry("a b\n c", Status::Changed, true, false),
            entry("gone", Status::Changed, false, true),
            entry("both sides", Status::Unmerged, false, true),
            entry("new file\u{fffd}", Status::Untracked, false, true),
        ];
        assert_eq!(entries(said).unwrap(), expected);
        assert_eq!(entries(b"").unwrap(), []);
        for bad in [&b"x y\0"[..], b"1 M.\0", b"? \0"] {
            assert!(entries(bad).is_err(), "{bad:?}");
        }
    }

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
