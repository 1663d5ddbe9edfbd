//! What the ignore files of a commit ignore, whatever those on disk say.

use super::listing::{LINK, ListedFile, Listing};
use super::objects::{Objects, missing};
use super::room::Room;
use super::{Git, GitError, Result};
use crate::private;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const COMMAND: &str = "check-ignore";
const IGNORE_FILE: &[u8] = b".gitignore";

/// The ignore files of a commit, in a folder of ours. They are written when they are asked for the first time.
pub(super) struct IgnoreRules {
    folder: PathBuf,
    git: Option<Git>,
}

impl IgnoreRules {
    pub(super) fn within(folder: PathBuf) -> Self {
        Self { folder, git: None }
    }

    /// Which of these paths they ignore. Paths begin at the root of the worktree; folders end in `/`.
    pub(super) async fn ignored(
        &mut self,
        room: &Room,
        listing: &Listing,
        objects: &mut Objects,
        paths: &[&[u8]],
    ) -> Result<HashSet<Vec<u8>>> {
        let is_rules = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(IGNORE_FILE);
        // A link is not followed by git either.
        let is_file = |file: &ListedFile| file.mode != LINK;
        let rules: Vec<_> =
            listing.files.iter().filter(|(path, file)| is_rules(path) && is_file(file)).collect();
        if rules.is_empty() || paths.is_empty() {
            return Ok(HashSet::new());
        }
        let git = match &self.git {
            Some(git) => git.clone(),
            None => {
                for (path, file) in rules {
                    let object = match file.source {
                        0 => objects.one(&file.id).await?,
                        other => listing.sources[other].objects()?.one(&file.id).await?,
                    };
                    let object = object.ok_or_else(|| missing(&file.id))?;
                    write(&self.folder, path, &object.bytes).map_err(failed)?;
                }
                self.git.insert(room.git(&self.folder)).clone()
            }
        };
        let mut input = vec![];
        for path in paths {
            // Names such as `:!x` would be patterns.
            input.extend_from_slice(b"./");
            input.extend_from_slice(path);
            input.push(0);
        }
        let (_, said) =
            git.with_input(input).exit_and_bytes([COMMAND, "--no-index", "-z", "--stdin"]).await?;
        Ok(said
            .split(|byte| *byte == 0)
            .filter_map(|name| name.strip_prefix(b"./"))
            .map(<[u8]>::to_vec)
            .collect())
    }
}

fn write(folder: &Path, path: &[u8], bytes: &[u8]) -> io::Result<()> {
    let file = folder.join(OsStr::from_bytes(path));
    private::make_folders(file.parent().unwrap_or(folder))?;
    private::write(&file, bytes)
}

fn failed(error: io::Error) -> GitError {
    GitError::unexpected(COMMAND, error.to_string())
}
