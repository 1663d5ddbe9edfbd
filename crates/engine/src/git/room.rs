//! A private git folder with neutral settings, beside the repository whose objects it reads: no setting, attribute, filter
//! or index of the repository has a say.

use super::{Git, GitError, Result};
use crate::{private, stamp};
use countersign_core::digest::Digest;
use std::io;
use std::path::{Path, PathBuf};

/// What a room knows of git's settings.
const CONFIG: &str = "[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tautocrlf = false\n\
    \tattributesFile = /dev/null\n\texcludesFile = /dev/null\n\thooksPath = /dev/null\n\tfsmonitor = false\n\
    \tcommitGraph = false\n\tmultiPackIndex = false\n";
const SHA256: &str = "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
const SHA256_LETTERS: usize = 64;

/// A private git folder.
pub(super) struct Room {
    folder: PathBuf,
}

impl Room {
    /// Makes it in a folder that exists and is ours.
    pub(super) fn make(folder: &Path, objects: &Path, commit: &str) -> io::Result<Self> {
        let folder = folder.to_owned();
        for below in ["refs", "objects/info"] {
            private::make_folders(&folder.join(below))?;
        }
        private::write(&folder.join("HEAD"), "ref: refs/heads/none\n")?;
        private::write(&folder.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
        let sha256 = if commit.len() == SHA256_LETTERS { SHA256 } else { "" };
        private::write(&folder.join("config"), format!("{CONFIG}{sha256}"))?;
        Ok(Self { folder })
    }

    /// Git in this room, for a work tree.
    pub(super) fn git(&self, tree: &Path) -> Git {
        let git = Git::at(tree).alone().with("GIT_DIR", &self.folder).with("GIT_WORK_TREE", tree);
        git.with("GIT_INDEX_FILE", self.folder.join("index")).with("GIT_ATTR_NOSYSTEM", "1")
    }
}

/// The files of a commit, checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFiles {
    pub files: PathBuf,
    /// Their stamp, taken before they were compared with the commit: any edit since then leaves another one.
    pub stamp: Digest,
}

impl Git {
    /// The files of a commit in `folder`, with no setting of the repository. A folder that has them already is used again.
    /// Either way every file is compared with its id, so neither an edited file nor a forged object gets through.
    pub async fn check_out(&self, commit: &str, folder: &Path) -> Result<CommitFiles> {
        let failed = |error: io::Error| GitError::unexpected("checkout-index", error.to_string());
        self.verify_trees(commit).await?;
        let (room, files) = (folder.join("git"), folder.join("files"));
        let objects = self.places().await?.objects;
        let objects = objects.canonicalize().map_err(failed)?;
        // Another process may make the same one at this moment.
        private::make_folders(folder.parent().unwrap_or(folder)).map_err(failed)?;
        let lock = private::make_file(&folder.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let is_there = files.is_dir();
        private::make_folders(&files).map_err(failed)?;
        let room = Room::make(&room, &objects, commit).map_err(failed)?;
        let stamp = stamp::of(&files).map_err(failed)?;
        if is_there && matches!(room.has_exactly(commit, &files).await, Ok(true)) {
            return Ok(CommitFiles { files, stamp });
        }
        // Put right where it is: another process may use the files that are as they should be.
        let git = room.git(&files);
        git.run(["read-tree", commit]).await?;
        git.run(["clean", "-ffdxq"]).await?;
        git.run(["checkout-index", "-a", "-f", "-q"]).await?;
        let stamp = stamp::of(&files).map_err(failed)?;
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
    /// Whether the files are those of the commit, and no others. An index without times makes git read each of them.
    async fn has_exactly(&self, commit: &str, files: &Path) -> Result<bool> {
        let index = self.folder.join("index");
        match std::fs::remove_file(&index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(GitError::unexpected("read-tree", error.to_string()));
            }
            _ => {}
        }
        let git = self.git(files);
        git.run(["read-tree", commit]).await?;
        let (code, _) = git.exit_and_text(["update-index", "--ignore-submodules", "--refresh"]).await?;
        Ok(code == 0 && git.text(["ls-files", "--others"]).await?.is_empty())
    }
}
