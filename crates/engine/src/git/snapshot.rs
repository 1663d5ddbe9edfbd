//! The files of a worktree as they are on disk, in an index of our own: the user's index, settings, attributes and filters have
//! no say, and only the ignore rules of the base count. What the base or HEAD has is never ignored.

use super::room::Room;
use super::{Git, GitError, Result, is_repository};
use crate::private;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const IGNORE_FILE: &str = ".gitignore";
const ATTRIBUTES_FILE: &str = ".gitattributes";
const GIT_FOLDER: &str = ".git";
/// What git says where nothing below the folder is in the base.
const NOTHING_THERE: &str = "did not match any file(s) known to git";
const OWN_STATE: &[u8] = b".countersign/";
const COMMAND: &str = "update-index";
/// The most files of repositories inside of the worktree.
const EMBEDDED_MAX: usize = 100_000;

/// The files on disk as an index, and what they are compared with.
#[derive(Debug)]
pub struct Snapshot {
    /// Git with that index, in the folder that was asked about.
    pub git: Git,
    /// The commit or tree they are compared with.
    pub base: String,
    index: PathBuf,
}

/// What a snapshot is of.
#[derive(Clone, Debug, Default)]
pub struct SnapshotWanted<'a> {
    /// The commit they are compared with; none where there is none yet.
    pub base: Option<&'a str>,
    /// Pathspecs of what is looked at, relative to the folder.
    pub paths: &'a [String],
    /// Whether new contents are written into the repository, so that they can be committed.
    pub writes: bool,
}

impl Git {
    /// Looks at the files below the folder. `scratch` is a folder of ours for this call.
    pub async fn snapshot(&self, wanted: &SnapshotWanted<'_>, scratch: &Path) -> Result<Snapshot> {
        let first = self.take(wanted, scratch, None).await?;
        // Attributes decide what git compares. Those of the work do not count.
        if !first.attributes_changed().await? {
            return Ok(first);
        }
        require_attribute_source().await?;
        self.take(wanted, scratch, Some(&first.base)).await
    }

    async fn take(
        &self,
        wanted: &SnapshotWanted<'_>,
        scratch: &Path,
        attributes: Option<&str>,
    ) -> Result<Snapshot> {
        let places = self.places().await?;
        let top = self.top();
        let objects = places.objects.canonicalize().map_err(failed)?;
        let folder = scratch.join(if attributes.is_some() { "room-2" } else { "room" });
        private::make_folders(&folder).map_err(failed)?;
        let base = match wanted.base {
            Some(base) => base.to_owned(),
            None => self.empty_tree().await?,
        };
        let room = Room::make(&folder, &objects, &base).map_err(failed)?;
        let mut git = room.git(self.folder()).with("GIT_WORK_TREE", &top);
        if wanted.writes {
            git = git.with("GIT_OBJECT_DIRECTORY", &objects);
        }
        if let Some(source) = attributes {
            git = git.with("GIT_ATTR_SOURCE", source);
        }
        let index = folder.join("index");
        let snapshot = Snapshot { git, base, index };
        snapshot.fill(self, wanted, &folder).await?;
        Ok(snapshot)
    }

    /// The root of the worktree around the folder.
    fn top(&self) -> PathBuf {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        folder.ancestors().find(|folder| is_repository(folder)).map(Path::to_owned).unwrap_or(folder)
    }
}

impl Snapshot {
    /// Brings the index from the base to the files on disk.
    async fn fill(&self, user: &Git, wanted: &SnapshotWanted<'_>, folder: &Path) -> Result<()> {
        let git = &self.git;
        git.run(["read-tree", self.base.as_str()]).await?;
        match git.run(of_paths(&["add", "-u", "--"], wanted.paths)).await {
            Err(GitError::Failed { words, .. }) if words.contains(NOTHING_THERE) => {}
            updated => drop(updated?),
        }
        let listed = ["ls-files", "-z", "--others", "--exclude-standard"];
        let mut new = self.paths(&listed, wanted).await?;
        let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let mut ignored = self.paths(&ignored, wanted).await?;
        // Our own state is no work. What is tracked of it comes below.
        new.retain(|path| !path.starts_with(OWN_STATE));
        ignored.retain(|path| !path.starts_with(OWN_STATE));
        if !ignored.is_empty() {
            new.extend(self.wrongly_ignored(ignored, folder).await?);
        }
        new.extend(self.tracked(user, wanted).await?);
        let files: BTreeSet<Vec<u8>> = self.expanded(new)?;
        if !files.is_empty() {
            let mut input = vec![];
            for file in files {
                input.extend_from_slice(b"./");
                input.extend(file);
                input.push(0);
            }
            let add = [COMMAND, "--add", "--replace", "-z", "--stdin"];
            git.clone().with_input(input).run(add).await?;
        }
        Ok(())
    }

    /// Ignored paths that the base does not ignore. Folders come with their files, where they are not ignored as a whole.
    async fn wrongly_ignored(&self, ignored: Vec<Vec<u8>>, folder: &Path) -> Result<Vec<Vec<u8>>> {
        let rules = folder.join("rules");
        private::make_folders(&rules).map_err(failed)?;
        let list = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", self.base.as_str()];
        let all = self.git.run(list).await?;
        let is_rules =
            |name: &&[u8]| name.rsplit(|byte| *byte == b'/').next() == Some(IGNORE_FILE.as_bytes());
        let names: Vec<&[u8]> = all.split(|byte| *byte == 0).filter(is_rules).collect();
        if names.is_empty() {
            return Ok(ignored);
        }
        let index = folder.join("rules-index");
        let git =
            self.git.clone().with("GIT_WORK_TREE", &rules).with("GIT_INDEX_FILE", &index).within(&rules);
        git.run(["read-tree", self.base.as_str()]).await?;
        let input = names.iter().fold(vec![], |mut all, name| {
            all.extend_from_slice(name);
            all.push(0);
            all
        });
        git.clone().with_input(input).run(["checkout-index", "-f", "-q", "-z", "--stdin"]).await?;
        // A folder that the base ignores is not looked into; of others each file counts.
        let prefix = self.prefix();
        let (folders, mut files): (Vec<_>, Vec<_>) =
            ignored.into_iter().partition(|path| path.ends_with(b"/"));
        let hidden = self.ignored_by(&git, &prefix, &folders).await?;
        let open = folders.into_iter().filter(|folder| !hidden.contains(folder));
        files.extend(self.expanded(open.collect())?);
        let hidden = self.ignored_by(&git, &prefix, &files).await?;
        Ok(files.into_iter().filter(|file| !hidden.contains(file)).collect())
    }

    /// Which of these paths the rules in the folder of `git` ignore.
    async fn ignored_by(&self, git: &Git, prefix: &[u8], paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let input = paths.iter().fold(vec![], |mut all, path| {
            // Names such as `:!x` would be patterns.
            all.extend_from_slice(b"./");
            all.extend_from_slice(prefix);
            all.extend_from_slice(path);
            all.push(0);
            all
        });
        let git = git.clone().with("GIT_INDEX_FILE", self.index.with_extension("none")).with_input(input);
        let (_, said) = git.exit_and_bytes(["check-ignore", "--no-index", "-z", "--stdin"]).await?;
        let start = b"./".len() + prefix.len();
        let names = said.split(|byte| *byte == 0).filter(|name| name.len() > start);
        Ok(names.map(|name| name[start..].to_vec()).collect())
    }

    /// What HEAD or the user's index has and the base has not: it is or will be committed, also where it is ignored.
    async fn tracked(&self, user: &Git, wanted: &SnapshotWanted<'_>) -> Result<Vec<Vec<u8>>> {
        let added = ["-z", "--name-only", "--diff-filter=A", "--no-renames", "--relative"];
        let base = self.base.as_str();
        let staged: Vec<&str> =
            ["diff-index", "--cached"].into_iter().chain(added).chain([base, "--"]).collect();
        // An index that cannot be read names nothing.
        let mut said = user.run(of_paths(&staged, wanted.paths)).await.unwrap_or_default();
        if let Some(head) = user.head().await?.filter(|head| head != base) {
            let list = ["diff-tree", "-r"].into_iter().chain(added).chain([base, head.as_str(), "--"]);
            said.extend(self.git.run(of_paths(&list.collect::<Vec<_>>(), wanted.paths)).await?);
        }
        let there = |name: &&[u8]| {
            let path = self.git.folder().join(std::ffi::OsStr::from_bytes(name));
            path.symlink_metadata().is_ok_and(|found| !found.is_dir())
        };
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter(there).map(<[u8]>::to_vec).collect())
    }

    async fn paths(&self, list: &[&str], wanted: &SnapshotWanted<'_>) -> Result<Vec<Vec<u8>>> {
        let list: Vec<&str> = list.iter().copied().chain(["--"]).collect();
        let said = self.git.run(of_paths(&list, wanted.paths)).await?;
        Ok(said.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// The files, and those of folders: another repository inside of the worktree is work like any other.
    fn expanded(&self, paths: Vec<Vec<u8>>) -> Result<BTreeSet<Vec<u8>>> {
        let mut files = BTreeSet::new();
        let mut open = paths;
        while let Some(path) = open.pop() {
            let Some(folder) = path.strip_suffix(b"/") else {
                files.insert(path);
                continue;
            };
            if files.len() > EMBEDDED_MAX {
                return Err(GitError::unexpected(
                    COMMAND,
                    format!("more than {EMBEDDED_MAX} ignored files would be judged"),
                ));
            }
            let real = self.git.folder().join(OsString::from_vec(folder.to_vec()));
            for entry in std::fs::read_dir(&real).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                let mut below = path.clone();
                below.extend_from_slice(entry.file_name().as_bytes());
                if kind.is_dir() && entry.file_name() != GIT_FOLDER {
                    below.push(b'/');
                    open.push(below);
                } else if kind.is_file() && entry.file_name() != GIT_FOLDER || kind.is_symlink() {
                    files.insert(below);
                }
            }
        }
        Ok(files)
    }

    /// The path of the folder in its worktree, with a `/` at its end.
    fn prefix(&self) -> Vec<u8> {
        let folder = self.git.folder().canonicalize().unwrap_or_else(|_| self.git.folder().to_owned());
        let below = folder.strip_prefix(self.git.top()).map(|below| below.as_os_str().as_bytes().to_vec());
        let mut below = below.unwrap_or_default();
        if !below.is_empty() {
            below.push(b'/');
        }
        below
    }

    /// Whether the work has other attributes than the base.
    async fn attributes_changed(&self) -> Result<bool> {
        let list = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", self.base.as_str()];
        let said = self.git.run(list).await?;
        let is_one =
            |name: &[u8]| name.rsplit(|byte| *byte == b'/').next() == Some(ATTRIBUTES_FILE.as_bytes());
        Ok(said.split(|byte| *byte == 0).any(is_one))
    }
}

fn of_paths(command: &[&str], paths: &[String]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).chain(paths.iter().cloned()).collect()
}

fn failed(error: io::Error) -> GitError {
    GitError::unexpected(COMMAND, error.to_string())
}

/// Only newer versions of git can take attributes from a commit.
async fn require_attribute_source() -> Result<()> {
    let said = Git::at(Path::new("/")).text(["--version"]).await?;
    let version = said.split_whitespace().nth(2).unwrap_or_default().to_owned();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let is_enough = (numbers.next(), numbers.next()) >= (Some(2), Some(43));
    match is_enough {
        true => Ok(()),
        false => Err(GitError::unexpected(
            "--version",
            format!(
                "the work changes {ATTRIBUTES_FILE}: git 2.43 or newer is needed to look at it, and this is {version}"
            ),
        )),
    }
}
