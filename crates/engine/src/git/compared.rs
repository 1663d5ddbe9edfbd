//! The difference between a commit and the files on disk, in a room that has only the objects which differ, each compared
//! with its id: neither the repository nor a process that writes into it or into the room decides what is shown.

use super::objects::{Objects, Part, SUBMODULE, missing};
use super::room::{Room, touched};
use super::snapshot::{Snapshot, raw};
use super::walk::{Unseen, UnseenReason};
use super::{Git, GitError, Result};
use crate::private;
use crate::scratch::Scratch;
use crate::stamp::{Around, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const COMMAND: &str = "update-index";
const ATTRIBUTES_FILE: &[u8] = b".gitattributes";
const NOTHING: &str = "0000000000000000000000000000000000000000";
/// The name under which the contents of one object are kept on the way.
const CONTENTS: &str = "contents";

/// A snapshot and what it is compared with, in a room of their own.
pub struct Compared {
    /// Git in the room, in the folder that was asked about.
    pub git: Git,
    /// A tree with the files of the commit that differ.
    pub old: String,
    /// What is there but cannot be shown.
    pub unseen: Vec<Unseen>,
    scratch: PathBuf,
    room: Room,
    stamp: Stamp,
    /// The ids of the files that differ.
    ids: BTreeMap<Vec<u8>, String>,
}

impl Snapshot {
    /// Makes the room, in a folder of ours.
    pub async fn compare(&self, scratch: &Path) -> Result<Compared> {
        let scratch = scratch.join("compared");
        private::make_folders(&scratch).map_err(failed)?;
        let room = Room::make(&scratch, None, self.listing.letters).map_err(failed)?;
        let git = room.git(&self.top);
        let attributes = self.attributes(&git, &scratch).await?;
        let git = match &attributes {
            Some(tree) => git.with("GIT_ATTR_SOURCE", tree),
            None => git,
        };
        let fetched = match self.attribute_files().is_empty() {
            true => BTreeSet::new(),
            false => self.fetched(&git).await?,
        };
        let old = self.old(&git, &fetched, &scratch).await?;
        let mut changed = vec![];
        for path in self.changed.difference(&fetched) {
            changed.extend_from_slice(b"./");
            changed.extend_from_slice(path);
            changed.push(0);
        }
        let gone = list(self.gone.iter().map(Vec::as_slice));
        git.clone().with_input(gone).run([COMMAND, "--force-remove", "-z", "--stdin"]).await?;
        git.clone().with_input(changed).run([COMMAND, "--add", "--replace", "-z", "--stdin"]).await?;
        let git = git.within(self.user.folder());
        // From here on only we read.
        let stamp = Stamp::of(&scratch, Around::Ours(1)).map_err(failed)?;
        let staged = git.clone().within(&self.top).run(["ls-files", "-s", "-z"]).await?;
        let staged_ids: BTreeSet<String> = entries(&staged).map(|(_, id, _)| id.to_owned()).collect();
        git.objects()?.check(&staged_ids.into_iter().collect::<Vec<_>>()).await?;
        let ids: BTreeMap<_, _> =
            entries(&staged).map(|(_, id, path)| (path.to_vec(), id.to_owned())).collect();
        // Git leaves out files without an error because of their names.
        let refused = self.changed.difference(&fetched).filter(|path| !ids.contains_key(*path));
        let refused = refused.map(|path| Unseen { path: path.clone(), why: UnseenReason::Name });
        let unseen = self.unseen.iter().cloned().chain(refused).collect();
        Ok(Compared { git, old, unseen, scratch, room, stamp, ids })
    }

    /// The files that commits after `since` changed, and that HEAD has otherwise than the disk and the base.
    pub async fn other_in_head(&self, since: &str, compared: Option<&Compared>) -> Result<Vec<Vec<u8>>> {
        // Before the first commit of a branch HEAD has nothing.
        let Some(head) = self.user.head().await?.filter(|head| head != since) else { return Ok(vec![]) };
        let args = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", since, &head, "--"];
        let said = self.user.clone().within(&self.top).run(args).await?;
        let other = raw(&said).filter(|(mode, id, path)| {
            let in_base = self.listing.files.get(*path).map(|file| file.id.to_string());
            let changed = compared.and_then(|compared| compared.ids.get(*path)).cloned();
            let on_disk = changed.or_else(|| in_base.clone().filter(|_| !self.gone.contains(*path)));
            let in_head = (*mode != "000000").then(|| (*id).to_owned());
            let is_below = path.starts_with(&self.prefix) && !self.is_in_submodule(path);
            is_below && *mode != SUBMODULE && in_head != on_disk && in_head != in_base
        });
        Ok(other.map(|(_, _, path)| path.to_vec()).collect())
    }

    fn is_in_submodule(&self, path: &[u8]) -> bool {
        let mut modules = self.listing.submodules.iter();
        modules.any(|module| path.strip_prefix(&module.path[..]).is_some_and(|rest| rest.starts_with(b"/")))
    }

    /// A tree with the attributes of the commit, if there are any there or in the work: those of the work do not count.
    async fn attributes(&self, git: &Git, scratch: &Path) -> Result<Option<String>> {
        let of_base = self.attribute_files();
        let is_changed = self.changed.iter().chain(&self.gone).any(|path| has_attributes(path));
        if !is_changed && (of_base.is_empty() || !has_attribute_source().await?) {
            return Ok(None);
        }
        require_attribute_source().await?;
        let tree = self.tree_of(git, &of_base, scratch).await?;
        git.run(["read-tree", "--empty"]).await?;
        Ok(Some(tree))
    }

    /// Those of the commit.
    fn attribute_files(&self) -> BTreeSet<Vec<u8>> {
        self.listing.files.keys().filter(|path| has_attributes(path)).cloned().collect()
    }

    /// A tree with the files of the commit that differ; the index has them too.
    async fn old(&self, git: &Git, fetched: &BTreeSet<Vec<u8>>, scratch: &Path) -> Result<String> {
        let listed = self.changed.difference(fetched).chain(&self.gone);
        let listed = listed.filter(|path| self.listing.files.contains_key(*path)).cloned().collect();
        self.tree_of(git, &listed, scratch).await
    }

    /// A tree with some files of the commit, whose contents are brought into the room.
    async fn tree_of(&self, git: &Git, paths: &BTreeSet<Vec<u8>>, scratch: &Path) -> Result<String> {
        let mut by_source: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut info = vec![];
        for path in paths {
            let Some(file) = self.listing.files.get(path) else { continue };
            let id = file.id.to_string();
            info.extend(entry(file.mode, &id, path));
            by_source.entry(file.source).or_default().insert(id);
        }
        for (source, ids) in by_source {
            let mut from = self.listing.sources[source].objects()?;
            bring(&mut from, ids.into_iter().collect(), git, scratch).await?;
        }
        git.clone().with_input(info).run([COMMAND, "-z", "--index-info"]).await?;
        git.text(["write-tree"]).await
    }

    /// The files on disk as a tree of the repository, exactly as they were compared; only below these pathspecs.
    pub async fn write_tree(&self, compared: &Compared, paths: &[String]) -> Result<String> {
        // A folder of its own: that of the comparison stays as it is.
        let scratch = Scratch::shielded("change").map_err(failed)?;
        let scratch = scratch.path();
        let objects = self.user.clone().within(&self.top).places().await?.objects;
        let objects = objects.canonicalize().map_err(failed)?;
        let room = Room::make(scratch, Some(&objects), self.listing.letters).map_err(failed)?;
        let git = room.git(&self.top).with("GIT_OBJECT_DIRECTORY", &objects);
        git.run(["read-tree", self.base.as_str()]).await?;
        let list = "diff-index --cached --raw -z --no-renames --full-index --abbrev=64".split(' ');
        let list = list.map(str::to_owned).chain([compared.old.clone(), "--".to_owned()]);
        let said = compared.git.run(list.chain(paths.iter().cloned())).await?;
        let (mut info, mut ids) = (vec![], BTreeSet::new());
        for (mode, id, path) in raw(&said).filter(|(_, _, path)| !self.is_in_submodule(path)) {
            if mode == "000000" {
                info.extend(entry("0", NOTHING, path));
                continue;
            }
            ids.insert(id.to_owned());
            info.extend(entry(mode, id, path));
        }
        info.extend(self.pointers.iter().flat_map(|(path, id)| entry(SUBMODULE, id, path)));
        let ids: Vec<String> = ids.into_iter().collect();
        bring(&mut compared.git.objects()?, ids.clone(), &git, scratch).await?;
        // An object that was there before has not been written again.
        git.objects()?.check(&ids).await?;
        git.clone().with_input(info).run([COMMAND, "-z", "--index-info"]).await?;
        let tree = git.text(["write-tree"]).await?;
        room.require_untouched()?;
        git.verify_trees(&tree).await?;
        Ok(tree)
    }
}

impl Compared {
    /// Nothing was written here since the files were taken in.
    pub fn require_untouched(&self) -> Result<()> {
        self.room.require_untouched()?;
        match self.stamp.is_touched(&self.scratch) {
            true => Err(touched()),
            false => Ok(()),
        }
    }
}

/// Brings contents from one repository into another. Their ids are compared on both sides.
async fn bring(from: &mut Objects, ids: Vec<String>, to: &Git, scratch: &Path) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let folder = scratch.join(CONTENTS);
    private::make_folders(&folder).map_err(failed)?;
    let file = |id: &str| folder.join(id);
    let mut wanted = ids.iter();
    let mut open = None;
    from.stream(&ids, |part| {
        match part {
            Part::Missing => return Err(missing(wanted.next().map_or("", String::as_str))),
            Part::Begin { id, .. } => {
                if wanted.next().is_none_or(|wanted| wanted != id) {
                    return Err(missing(id));
                }
                open = Some(private::make_file(&file(id)).map_err(failed)?);
            }
            Part::Bytes(bytes) => {
                open.as_mut().map_or(Ok(()), |file| file.write_all(bytes)).map_err(failed)?;
            }
            Part::End => open = None,
        }
        Ok(())
    })
    .await?;
    let names = ids.iter().fold(vec![], |mut all, id| {
        all.extend_from_slice(file(id).as_os_str().as_encoded_bytes());
        all.push(b'\n');
        all
    });
    let write = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    let written = to.clone().with_input(names).text(write).await?;
    let is_same = written.lines().eq(ids.iter().map(String::as_str));
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    match is_same {
        true => Ok(()),
        false => Err(touched()),
    }
}

fn has_attributes(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(ATTRIBUTES_FILE)
}

/// A line for `update-index --index-info`.
fn entry(mode: &str, id: &str, path: &[u8]) -> Vec<u8> {
    let mut line = format!("{mode} {id}\t").into_bytes();
    line.extend_from_slice(path);
    line.push(0);
    line
}

fn list<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    paths.fold(vec![], |mut all, path| {
        all.extend_from_slice(path);
        all.push(0);
        all
    })
}

/// Mode, id and path of each entry of an index.
fn entries(said: &[u8]) -> impl Iterator<Item = (&str, &str, &[u8])> {
    said.split(|byte| *byte == 0).filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
        Some((words.next()?, words.next()?, &line[tab + 1..]))
    })
}

fn failed(error: io::Error) -> GitError {
    GitError::unexpected(COMMAND, error.to_string())
}

/// The version of git, and whether it can take attributes from a tree.
async fn attribute_source() -> Result<(String, bool)> {
    let said = Git::at(Path::new("/")).text(["--version"]).await?;
    let version = said.split_whitespace().nth(2).unwrap_or_default().to_owned();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let is_enough = (numbers.next(), numbers.next()) >= (Some(2), Some(43));
    Ok((version, is_enough))
}

async fn has_attribute_source() -> Result<bool> {
    Ok(attribute_source().await?.1)
}

async fn require_attribute_source() -> Result<()> {
    match attribute_source().await? {
        (_, true) => Ok(()),
        (version, false) => Err(GitError::unexpected(
            "--version",
            format!(
                "the work changes .gitattributes: git 2.43 or newer is needed to look at it, and this is {version}"
            ),
        )),
    }
}
