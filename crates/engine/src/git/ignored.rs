//! What the ignore files of a commit ignore, whatever those on disk say.

use super::listing::{LINK, ListedFile, Listing};
use super::objects::{LazyObjects, missing};
use super::room::Room;
use super::{Git, GitError, Result};
use crate::private;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const COMMAND: &str = "check-ignore";
const IGNORE_FILE: &[u8] = b".gitignore";
/// The name of the folder with the ignore files.
const RULES: &str = "rules";

/// The ignore files of a commit, in a folder of ours. They are written when they are asked for the first time, and only then
/// there is a room: a stop without changes asks nothing.
pub(super) struct IgnoreRules {
    scratch: PathBuf,
    /// The paths of the files.
    files: Vec<Vec<u8>>,
    room: Option<(Room, Git)>,
    /// The paths of which it is known that they are ignored.
    pub(super) known: BTreeSet<Vec<u8>>,
}

impl IgnoreRules {
    /// Those of a commit, of which it is known that they ignore some paths.
    pub(super) fn of(listing: &Listing, scratch: &Path, known: BTreeSet<Vec<u8>>) -> Self {
        let is_rules = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(IGNORE_FILE);
        // A link is not followed by git either.
        let is_file = |file: &ListedFile| file.mode != LINK;
        let files = listing.files.iter().filter(|(path, file)| is_rules(path) && is_file(file));
        let files = files.map(|(path, _)| path.clone()).collect();
        Self { scratch: scratch.to_owned(), files, room: None, known }
    }

    /// Finds out which of these paths they ignore. Paths begin at the root of the worktree; folders end in `/`.
    pub(super) async fn ask(
        &mut self,
        listing: &Listing,
        objects: &mut LazyObjects,
        paths: &[&[u8]],
    ) -> Result<()> {
        let open: Vec<&[u8]> = paths.iter().copied().filter(|path| !self.known.contains(*path)).collect();
        if self.files.is_empty() || open.is_empty() {
            return Ok(());
        }
        let git = match &self.room {
            Some((_, git)) => git.clone(),
            None => {
                let room = Room::make(&self.scratch, None, listing.letters).map_err(failed)?;
                let folder = room.other_folder(RULES);
                for path in &self.files {
                    let Some(file) = listing.files.get(path) else { continue };
                    let id = file.id.to_string();
                    let object = match file.source {
                        0 => objects.get()?.one(&id).await?,
                        other => listing.sources[other].objects()?.one(&id).await?,
                    };
                    let object = object.ok_or_else(|| missing(&id))?;
                    write(&folder, path, &object.bytes).map_err(failed)?;
                }
                let git = room.git(&folder);
                self.room.insert((room, git)).1.clone()
            }
        };
        let mut input = vec![];
        for path in open {
            // Names such as `:!x` would be patterns.
            input.extend_from_slice(b"./");
            input.extend_from_slice(path);
            input.push(0);
        }
        let (_, said) =
            git.with_input(input).exit_and_bytes([COMMAND, "--no-index", "-z", "--stdin"]).await?;
        let named = said.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"./"));
        self.known.extend(named.map(<[u8]>::to_vec));
        Ok(())
    }

    /// No other process wrote into the room, if there is one.
    pub(super) fn require_untouched(&self) -> Result<()> {
        self.room.as_ref().map_or(Ok(()), |(room, _)| room.require_untouched())
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
