//! What differs between the last commit, the index and the files.

use super::{Git, GitError, Result};

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
        let is_staged = parts.nth(1).is_some_and(|xy| status == Status::Changed && xy[0] != b'.');
        let path = if fields == 2 { Some(&line[2..]) } else { parts.last() };
        let path = path.filter(|path| !path.is_empty()).ok_or_else(|| unexpected(line))?;
        entries.push(StatusEntry { path: String::from_utf8_lossy(path).into_owned(), status, is_staged });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let said =
            b"1 M. N... 100644 100644 100644 aa bb a b\n c\x001 .D N... 100644 100644 000000 aa aa gone\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both sides\0? new file\xff\0";
        let entry = |path: &str, status, is_staged| StatusEntry { path: path.to_owned(), status, is_staged };
        let expected = [
            entry("a b\n c", Status::Changed, true),
            entry("gone", Status::Changed, false),
            entry("both sides", Status::Unmerged, false),
            entry("new file\u{fffd}", Status::Untracked, false),
        ];
        assert_eq!(entries(said).unwrap(), expected);
        assert_eq!(entries(b"").unwrap(), []);
        for bad in [&b"x y\0"[..], b"1 M.\0", b"? \0"] {
            assert!(entries(bad).is_err(), "{bad:?}");
        }
    }
}
