//! A private git folder with neutral settings, beside the repository whose objects it reads: no setting, attribute, filter
//! or index of the repository has a say.

use super::{Git, GitError, Result};
use crate::stamp::{Around, Stamp};
use crate::{private, stamp};
use countersign_core::digest::{Digest, Parts};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a room knows of git's settings.
const CONFIG: &str = "[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tautocrlf = false\n\
    \tattributesFile = /dev/null\n\texcludesFile = /dev/null\n\thooksPath = /dev/null\n\tfsmonitor = false\n\
    \tcommitGraph = false\n\tmultiPackIndex = false\n";
const SHA256: &str = "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
const SHA256_LETTERS: usize = 64;
const ROOM: &str = "room";
const INDEX: &str = "index";
/// The ending of the file that is locked while files are checked out.
pub(super) const LOCK: &str = "lock";
/// How long a checkout is kept that nobody uses.
const KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// A private git folder.
pub(super) struct Room {
    folder: PathBuf,
    /// What it was like when it was made.
    stamp: Digest,
}

impl Room {
    /// Makes it in a folder that exists and is ours. Without `objects` of a repository it has only its own.
    pub(super) fn make(within: &Path, objects: Option<&Path>, letters: usize) -> io::Result<Self> {
        let folder = within.join(ROOM);
        for below in ["refs", "info", "objects/info", "objects/pack"] {
            private::make_folders(&folder.join(below))?;
        }
        private::make_folders(&within.join(INDEX))?;
        private::write(&folder.join("HEAD"), "ref: refs/heads/none\n")?;
        let alternates = objects.map(|objects| format!("{}\n", objects.display())).unwrap_or_default();
        private::write(&folder.join("objects/info/alternates"), alternates)?;
        let sha256 = if letters == SHA256_LETTERS { SHA256 } else { "" };
        private::write(&folder.join("config"), format!("{CONFIG}{sha256}"))?;
        let stamp = stamp_of(&folder)?;
        Ok(Self { folder, stamp })
    }

    /// Git in this room, for a work tree.
    pub(super) fn git(&self, tree: &Path) -> Git {
        let git = Git::at(tree).alone().with("GIT_DIR", &self.folder).with("GIT_WORK_TREE", tree);
        git.with("GIT_INDEX_FILE", self.index()).with("GIT_ATTR_NOSYSTEM", "1")
    }

    /// The index is beside the room, so that writing it leaves no trace in there.
    pub(super) fn index(&self) -> PathBuf {
        self.other_folder(INDEX).join("index")
    }

    /// A folder beside the room.
    pub(super) fn other_folder(&self, name: &str) -> PathBuf {
        self.folder.with_file_name(name)
    }

    /// Git writes objects and the index, and nothing else. Whatever another process wrote here, settings or attributes for
    /// instance, has left its trace, also where it was taken away again.
    pub(super) fn require_untouched(&self) -> Result<()> {
        let failed = |error: io::Error| GitError::unexpected("read-tree", error.to_string());
        match stamp_of(&self.folder).map_err(failed)? == self.stamp {
            true => Ok(()),
            false => Err(touched()),
        }
    }
}

pub(super) fn touched() -> GitError {
    let words = "another process wrote into the private folder that the files were compared in";
    GitError::unexpected("read-tree", words)
}

/// The stamp of all in a room but its objects, and of the folder that it is in.
fn stamp_of(folder: &Path) -> io::Result<Digest> {
    let mut parts = Parts::new("room/1");
    stamp::add(&mut parts, &folder.symlink_metadata()?);
    for below in ["HEAD", "config", "refs", "info", "objects/info"] {
        parts.text(stamp::of(&folder.join(below))?.as_str());
    }
    Ok(parts.digest())
}

/// Removes checkouts in a folder of the cache that nobody has used for long. What cannot be removed stays.
pub fn remove_unused(cache: &Path) {
    let used_at = |folder: &Path| folder.with_extension(LOCK).metadata().ok()?.modified().ok();
    let folders = std::fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| path.is_dir()) {
        if used_at(&folder).is_some_and(|used| used.elapsed().is_ok_and(|since| since > KEPT)) {
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

/// The files of a commit, checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFiles {
    pub files: PathBuf,
    /// Taken before they were compared with the commit.
    pub stamp: Stamp,
}

impl Git {
    /// The files of a commit in `folder`, with no setting of the repository. A folder that has them already is used again.
    /// Either way every file is compared with its id, so neither an edited file nor a forged object gets through. `around` is
    /// what the folder is in.
    pub async fn check_out(&self, commit: &str, folder: &Path, around: Around) -> Result<CommitFiles> {
        let failed = |error: io::Error| GitError::unexpected("checkout-index", error.to_string());
        self.verify_trees(commit).await?;
        let files = folder.join("files");
        let objects = self.places().await?.objects;
        let objects = objects.canonicalize().map_err(failed)?;
        // Another process may make the same one at this moment.
        private::make_folders(folder.parent().unwrap_or(folder)).map_err(failed)?;
        let lock = private::make_file(&folder.with_extension(LOCK)).map_err(failed)?;
        lock.lock().map_err(failed)?;
        lock.set_modified(SystemTime::now()).map_err(failed)?;
        let is_there = files.is_dir();
        private::make_folders(&files).map_err(failed)?;
        let room = Room::make(folder, Some(&objects), commit.len()).map_err(failed)?;
        let around = match around {
            Around::Ours(folders) => Around::Ours(folders + 1),
            Around::Shared => Around::Shared,
        };
        let stamp = Stamp::of(&files, around).map_err(failed)?;
        if is_there && matches!(room.has_exactly(commit, &files).await, Ok(true)) {
            return Ok(CommitFiles { files, stamp });
        }
        // Put right where it is: another process may use the files that are as they should be.
        let git = room.git(&files);
        git.run(["read-tree", commit]).await?;
        git.run(["clean", "-ffdxq"]).await?;
        git.run(["checkout-index", "-a", "-f", "-q"]).await?;
        let stamp = Stamp::of(&files, around).map_err(failed)?;
        match room.has_exactly(commit, &files).await? {
            true => Ok(CommitFiles { files, stamp }),
            false => {
                let words = format!("the objects of commit {commit} are not what their ids say");
                Err(GitError::unexpected("checkout-index", words))
            }
        }
    }
}

impl Room {
    /// Whether the files are those of the commit, and no others.
    async fn has_exactly(&self, commit: &str, files: &Path) -> Result<bool> {
        let has_files = self.has_files(commit, files).await?;
        Ok(has_files && self.git(files).text(["ls-files", "--others"]).await?.is_empty())
    }

    /// Whether the files of the commit or tree are there as they should be. An index without times makes git read each of
    /// them; it has their times afterwards.
    pub(super) async fn has_files(&self, commit: &str, files: &Path) -> Result<bool> {
        match std::fs::remove_file(self.index()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(GitError::unexpected("read-tree", error.to_string()));
            }
            _ => {}
        }
        let git = self.git(files);
        git.run(["read-tree", commit]).await?;
        let (code, _) = git.exit_and_text(["update-index", "--ignore-submodules", "--refresh"]).await?;
        Ok(code == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn attack_18_a_write_into_the_room_is_noticed_also_when_it_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let within = folder.path().join(name);
            fs::create_dir(&within).unwrap();
            Room::make(&within, None, SHA256_LETTERS).unwrap()
        };
        let quiet = made("quiet");
        fs::write(quiet.index(), "").unwrap();
        fs::create_dir(quiet.folder.join("objects/aa")).unwrap();
        quiet.require_untouched().unwrap();
        for file in
            ["info/attributes", "info/exclude", "config", "objects/info/alternates", "HEAD", "commondir"]
        {
            let room = made(&file.replace('/', "-"));
            let path = room.folder.join(file);
            let before = fs::read(&path).ok();
            // Until the clock of the file system has moved on.
            while room.require_untouched().is_ok() {
                fs::write(&path, "* -diff\n").unwrap();
                match &before {
                    Some(before) => fs::write(&path, before).unwrap(),
                    None => fs::remove_file(&path).unwrap(),
                }
            }
        }
    }
}
