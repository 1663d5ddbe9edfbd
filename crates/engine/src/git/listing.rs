//! The files of a commit by their paths, with those of its submodules. Everything is compared with its id on the way.

use super::kept::FileState;
use super::objects::{FOLDER, Id, LazyObjects, Object, Objects, SHA1_LETTERS, SUBMODULE, missing};
use super::{Git, GitError, Result, is_repository};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The mode of a link.
pub(super) const LINK: &str = "120000";
const PLAIN: &str = "100644";
const PROGRAM: &str = "100755";
/// The beginning of the mode of a file, and its bit that says that the owner may execute it.
const FILE: &str = "100";
const EXECUTABLE: u32 = 0o100;

/// A mode as git understands it: old versions wrote others for files.
pub(super) fn mode(said: &str) -> Option<&'static str> {
    match said {
        LINK => Some(LINK),
        file => match u32::from_str_radix(file.strip_prefix(FILE)?, 8).ok()? & EXECUTABLE {
            0 => Some(PLAIN),
            _ => Some(PROGRAM),
        },
    }
}

/// A file, link or submodule of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedFile {
    pub(super) mode: &'static str,
    pub(super) id: Id,
    /// Which repository has it: 0 is that of the commit, the others are submodules.
    pub(super) source: usize,
    /// As long as the file on disk is in this state, it is as in the commit.
    pub(super) state: Option<FileState>,
}

/// A submodule of a commit, with the files of its own commit in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) path: Vec<u8>,
    pub(super) id: String,
    pub(super) source: usize,
}

/// What HEAD or an index says that there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Claimed {
    pub(super) files: BTreeSet<Vec<u8>>,
    /// The commits of submodules.
    pub(super) pointers: BTreeSet<(Vec<u8>, String)>,
}

/// The files of a commit. Paths begin at the root of the worktree.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeMap<Vec<u8>, ListedFile>,
    /// The folders that files are in.
    pub(super) folders: HashSet<Vec<u8>>,
    /// The repositories that have the contents.
    pub(super) sources: Vec<Git>,
    pub(super) submodules: Vec<Submodule>,
    /// The commits that the commit itself names for its submodules.
    pub(super) pointers: BTreeMap<Vec<u8>, String>,
    /// The tree of each folder of the commit itself.
    pub(super) trees: HashMap<Vec<u8>, String>,
    pub(super) letters: usize,
}

/// What is read of a commit.
pub(super) struct Reading<'a> {
    pub(super) top: &'a Path,
    /// Only what is below this folder, and the files right in the folders on the way to it. Empty, or with a `/` at its end.
    pub(super) prefix: &'a [u8],
}

impl Listing {
    /// Reads the files of a commit of the repository at `top`, whose objects these are.
    pub(super) async fn read(
        git: &Git,
        objects: &mut LazyObjects,
        commit: &str,
        reading: &Reading<'_>,
    ) -> Result<Self> {
        let objects = objects.get()?;
        let root = objects.root(commit).await?;
        let mut listing = Self { letters: root.id.len(), sources: vec![git.clone()], ..Self::default() };
        let pointers = listing.add(objects, root, &[], 0, reading, None).await?;
        listing.pointers = pointers.iter().cloned().collect();
        listing.expand(git, pointers, reading).await?;
        Ok(listing.with_folders())
    }

    /// The same with the folders that its files are in.
    pub(super) fn with_folders(mut self) -> Self {
        let mut folders = HashSet::new();
        for path in self.files.keys() {
            let mut end = path.len();
            while let Some(slash) = path[..end].iter().rposition(|byte| *byte == b'/') {
                if folders.contains(&path[..slash]) {
                    break;
                }
                folders.insert(path[..slash].to_vec());
                end = slash;
            }
        }
        self.folders = folders;
        self
    }

    /// Takes over what is known of files on disk that are the same in another commit.
    pub(super) fn take_states(&mut self, known: Self) {
        for (path, known) in known.files {
            if let Some(file) = self.files.get_mut(&path)
                && (file.mode, file.id) == (known.mode, known.id)
            {
                file.state = known.state;
            }
        }
    }

    /// What another commit has and this one has not: names of files, and other commits of submodules. Folders that are the
    /// same are not read.
    pub(super) async fn only_in(
        &self,
        objects: &mut Objects,
        commit: &str,
        reading: &Reading<'_>,
    ) -> Result<Claimed> {
        let root = objects.root(commit).await?;
        let mut other = Self { letters: root.id.len(), ..Self::default() };
        let pointers = other.add(objects, root, &[], 0, reading, Some(&self.trees)).await?;
        let is_new = |path: &Vec<u8>| !self.files.contains_key(path);
        Ok(Claimed {
            files: other.files.into_keys().filter(is_new).collect(),
            pointers: pointers.into_iter().collect(),
        })
    }

    /// Adds the files of a tree, level by level, and returns the submodules in it.
    async fn add(
        &mut self,
        objects: &mut Objects,
        root: Object,
        at: &[u8],
        source: usize,
        reading: &Reading<'_>,
        known: Option<&HashMap<Vec<u8>, String>>,
    ) -> Result<Vec<(Vec<u8>, String)>> {
        let mut pointers = vec![];
        let mut level = vec![(at.to_vec(), root)];
        while !level.is_empty() {
            let mut next: Vec<(Vec<u8>, String)> = vec![];
            for (folder, tree) in level {
                if known.is_some_and(|known| known.get(&folder) == Some(&tree.id)) {
                    continue;
                }
                if source == 0 {
                    self.trees.insert(folder.clone(), tree.id.clone());
                }
                for entry in tree.entries() {
                    let path = [&folder[..], entry.name].concat();
                    match entry.mode {
                        FOLDER => {
                            let path = [&path[..], b"/"].concat();
                            if path.starts_with(reading.prefix) || reading.prefix.starts_with(&path) {
                                next.push((path, entry.id()));
                            }
                        }
                        SUBMODULE => pointers.push((path, entry.id())),
                        said => {
                            let (Some(mode), Some(id)) = (mode(said), entry.raw_id()) else {
                                return Err(GitError::unexpected(
                                    "ls-tree",
                                    format!("a file has mode {said}"),
                                ));
                            };
                            self.files.insert(path, ListedFile { mode, id, source, state: None });
                        }
                    }
                }
            }
            let ids: Vec<String> = next.iter().map(|(_, id)| id.clone()).collect();
            let found = objects.get(&ids).await?;
            level = next
                .into_iter()
                .zip(found)
                .map(|((path, id), object)| match object {
                    Some(object) if object.id == id && object.kind == "tree" => Ok((path, object)),
                    _ => Err(missing(&id)),
                })
                .collect::<Result<_>>()?;
        }
        Ok(pointers)
    }

    /// Puts the files of submodules into the list, where their commits are there to be read. The folder of another is a
    /// folder like any other: everything in it is new.
    async fn expand(
        &mut self,
        git: &Git,
        pointers: Vec<(Vec<u8>, String)>,
        reading: &Reading<'_>,
    ) -> Result<()> {
        let mut open = pointers;
        while let Some((path, id)) = open.pop() {
            let folder = reading.top.join(OsStr::from_bytes(&path));
            let is_below = path.starts_with(reading.prefix);
            // A submodule that is not checked out has an empty folder, or none.
            let is_empty = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
            if !is_below || is_empty {
                continue;
            }
            let Some(repository) = repository_of(git, reading.top, &path, &folder).await else { continue };
            let Ok(mut objects) = repository.objects() else { continue };
            let Ok(root) = objects.root(&id).await else { continue };
            if id.len() < SHA1_LETTERS {
                return Err(GitError::unexpected("ls-tree", format!("`{id}` is no commit")));
            }
            let source = self.sources.len();
            self.sources.push(repository);
            let at = [&path[..], b"/"].concat();
            let inner = Reading { top: reading.top, prefix: b"" };
            open.extend(self.add(&mut objects, root, &at, source, &inner, None).await?);
            self.submodules.push(Submodule { path, id, source });
        }
        Ok(())
    }
}

/// The repository of a submodule: the one in its folder, or the one that git keeps for it. Wherever it is, its objects are
/// compared with their ids.
pub(super) async fn repository_of(git: &Git, top: &Path, path: &[u8], folder: &Path) -> Option<Git> {
    // A part of the objects may be missing. Settings of the submodule must not decide where they come from.
    let local = |git: Git| git.with("GIT_NO_LAZY_FETCH", "1");
    if is_repository(folder) {
        return Some(local(Git::at(folder)));
    }
    let objects = git.clone().within(top).places().await.ok()?.objects;
    let kept: PathBuf = objects.parent()?.join("modules").join(OsStr::from_bytes(path));
    kept.join("HEAD").is_file().then(|| local(Git::at(&kept).with("GIT_DIR", &kept)))
}
