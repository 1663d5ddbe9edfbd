//! The files of a worktree as they are on disk, compared with a commit: the user's index, settings, attributes and filters
//! have no say, and only the ignore rules of the commit count. What the commit, HEAD or the index has is never ignored.

use super::ignored::IgnoreRules;
use super::kept::{FileState, Kept, KeptClaims, Memory, Renewed, Settled};
use super::listing::{Claimed, Listing, Reading, repository_of};
use super::objects::{LazyObjects, SUBMODULE};
use super::places::{plain_head, plain_index};
use super::walk::{self, Differing, Found, Known, Unseen, UnseenReason};
use super::{Git, GitError, Result, is_repository};
use crate::private;
use countersign_core::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OWN_STATE: &[u8] = b".countersign/";
const COMMAND: &str = "update-index";
/// The name of a copy of the user's index.
const COPY: &str = "copy";
/// The most files that are there and the commit has not.
const NEW_MAX: usize = 100_000;

/// The files on disk, and which of them differ from the commit. Paths begin at the root of the worktree.
#[derive(Debug)]
pub struct Snapshot {
    /// The commit or tree they are compared with.
    pub base: String,
    /// What cannot be looked at.
    pub unseen: Vec<Unseen>,
    pub(super) user: Git,
    pub(super) top: PathBuf,
    /// Of the folder that was asked about.
    pub(super) prefix: Vec<u8>,
    pub(super) listing: Arc<Listing>,
    /// New or other than in the commit.
    pub(super) changed: BTreeSet<Vec<u8>>,
    pub(super) gone: BTreeSet<Vec<u8>>,
    /// The commits that the submodules have checked out.
    pub(super) pointers: BTreeMap<Vec<u8>, String>,
    files: BTreeMap<Vec<u8>, Found>,
}

/// Looking at the files takes these on the way.
struct Look<'a> {
    user: &'a Git,
    base: &'a str,
    /// A folder of ours for this call.
    scratch: &'a Path,
    rules: IgnoreRules,
    objects: LazyObjects,
    listing: Arc<Listing>,
    memory: Memory<'a>,
    /// In the order in which they were found.
    known: Vec<Known>,
    new: BTreeMap<Vec<u8>, Found>,
    unseen: Vec<Unseen>,
    /// Files that were read and are as in the base.
    same: BTreeMap<Vec<u8>, FileState>,
    claims: Option<KeptClaims>,
}

impl Git {
    /// Looks at the files below the folder. `scratch` is a folder of ours for this call, and `kept` what an earlier call
    /// found; without it every file is read.
    pub async fn snapshot(
        &self,
        base: Option<&str>,
        scratch: &Path,
        kept: Option<&Kept>,
    ) -> Result<Snapshot> {
        let top = self.top();
        let prefix = self.below_top(&top);
        let base = match base {
            Some(base) => base.to_owned(),
            None => self.empty_tree().await?,
        };
        let reading = Reading { top: &top, prefix: &prefix };
        let mut objects = LazyObjects::of(self);
        let (mut memory, listing) = Memory::open(kept, self, &mut objects, &base, &reading).await?;
        let listing = Arc::new(listing);
        let rules = IgnoreRules::of(&listing, scratch, memory.take_ignored());
        let mut look = Look {
            user: self,
            base: &base,
            scratch,
            rules,
            objects,
            listing: Arc::clone(&listing),
            memory,
            known: vec![],
            new: BTreeMap::new(),
            unseen: vec![],
            same: BTreeMap::new(),
            claims: None,
        };
        look.walk(&top, &prefix).await?;
        let claimed = look.add_claimed(&reading).await?;
        look.rules.require_untouched()?;
        let changed = look.changed(&top).await?;
        let Look { new, known, unseen, rules, memory, same, claims, .. } = look;
        let unread = known.iter().filter(|known| known.is_same).count();
        memory.renew(&base, &reading, &listing, Renewed { same, ignored: rules.known, claims, unread });
        let files = known.into_iter().map(|known| (known.path, known.found)).chain(new).collect();
        let (user, pointers) = (self.clone(), BTreeMap::new());
        let (gone, base) = (BTreeSet::new(), base.clone());
        let mut snapshot =
            Snapshot { base, unseen, user, top, prefix, listing, changed, gone, files, pointers };
        snapshot.settle_gone();
        snapshot.check_submodules(claimed).await?;
        Ok(snapshot)
    }

    /// The root of the worktree around the folder.
    pub(super) fn top(&self) -> PathBuf {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        folder.ancestors().find(|folder| is_repository(folder)).map(Path::to_owned).unwrap_or(folder)
    }

    /// The path of the folder in its worktree, with a `/` at its end.
    pub(super) fn below_top(&self, top: &Path) -> Vec<u8> {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        let below = folder.strip_prefix(top).map(|below| below.as_os_str().as_bytes().to_vec());
        let mut below = below.unwrap_or_default();
        if !below.is_empty() {
            below.push(b'/');
        }
        below
    }
}

impl Look<'_> {
    /// Looks into one level of folders after the other. A folder that the rules ignore is not looked into, unless the
    /// commit has files in it.
    async fn walk(&mut self, top: &Path, prefix: &[u8]) -> Result<()> {
        let own_state = [prefix, OWN_STATE].concat();
        let mut folders = vec![prefix.to_vec()];
        while !folders.is_empty() {
            let mut level = walk::look(top, folders, &self.listing).await?;
            // Our own state is no work, but for what is tracked of it.
            level.unknown.retain(|(path, _)| !path.starts_with(&own_state));
            self.known.extend(level.known);
            let unseen = level.unseen.iter().filter(|place| !self.listing.files.contains_key(&place.path));
            let asked = level.unknown.iter().map(|(path, _)| path.as_slice());
            let asked: Vec<&[u8]> = asked.chain(unseen.map(|place| place.path.as_slice())).collect();
            self.rules.ask(&self.listing, &mut self.objects, &asked).await?;
            let is_ignored = |path: &Vec<u8>| self.rules.known.contains(path);
            self.unseen.extend(level.unseen.into_iter().filter(|place| !is_ignored(&place.path)));
            folders = level.folders;
            for (path, found) in level.unknown {
                match found {
                    _ if is_ignored(&path) => {}
                    None => folders.push(path),
                    Some(found) => drop(self.new.insert(path, found)),
                }
            }
            if self.new.len() > NEW_MAX {
                let words = format!("more than {NEW_MAX} new files would be judged");
                return Err(GitError::unexpected(COMMAND, words));
            }
        }
        Ok(())
    }

    /// Adds what is ignored, but HEAD or the user's index has: it is or will be committed. Returns the commits that they name
    /// for submodules.
    async fn add_claimed(&mut self, reading: &Reading<'_>) -> Result<BTreeSet<(Vec<u8>, String)>> {
        let claimed = match self.memory.is_kept() {
            true => self.known_claims(reading).await?,
            false => self.ask_claimed(reading, "HEAD", self.user).await?.0,
        };
        for name in claimed.files {
            match reading.top.join(OsStr::from_bytes(&name)).symlink_metadata() {
                Ok(found) if found.is_symlink() => drop(self.new.insert(name, Found::Link)),
                Ok(found) if found.is_file() => drop(self.new.insert(name, Found::File)),
                _ => {}
            }
        }
        Ok(claimed.pointers)
    }

    /// The same as an earlier call found it, for the same HEAD and the same index; else it is found out to be kept.
    async fn known_claims(&mut self, reading: &Reading<'_>) -> Result<Claimed> {
        let index = self.user.clone().within(reading.top).places().await?.index;
        let head = plain_head(reading.top).map(|(_, commit)| commit);
        let Some((head, bytes)) = head.zip(plain_index(&index)) else {
            return Ok(self.ask_claimed(reading, "HEAD", self.user).await?.0);
        };
        let index = Digest::of(&bytes).to_string();
        if let Some(known) = self.memory.claims(&head, &index) {
            return Ok(known.clone());
        }
        // Of a copy: what is kept must be about exactly these bytes.
        let copy = self.scratch.join(COPY);
        if !bytes.is_empty() {
            private::write(&copy, &bytes).map_err(failed)?;
        }
        let git = self.user.clone().with("GIT_INDEX_FILE", copy);
        let (claimed, is_sure) = self.ask_claimed(reading, &head, &git).await?;
        self.claims = is_sure.then(|| KeptClaims { head, index, claimed: claimed.clone() });
        Ok(claimed)
    }

    /// Asks git what HEAD and the index claim, and whether the index could be read.
    async fn ask_claimed(&mut self, reading: &Reading<'_>, head: &str, git: &Git) -> Result<(Claimed, bool)> {
        const STAGED: &str = "diff-index --cached --raw -z --abbrev=64 --no-renames --ignore-submodules=none";
        let staged = STAGED.split(' ').chain([self.base, "--"]);
        let said = git.clone().within(reading.top).run(staged).await;
        // An index that cannot be read names nothing.
        let (is_sure, said) = (said.is_ok(), said.unwrap_or_default());
        let mut claimed = Claimed::default();
        for (mode, id, path) in raw(&said).filter(|(_, _, path)| path.starts_with(reading.prefix)) {
            match mode {
                SUBMODULE => drop(claimed.pointers.insert((path.to_vec(), id.to_owned()))),
                _ if self.listing.files.contains_key(path) => {}
                _ => drop(claimed.files.insert(path.to_vec())),
            }
        }
        let objects = self.objects.get()?;
        if objects.one(head).await?.is_some_and(|head| head.id != self.base) {
            let of_head = self.listing.only_in(objects, head, reading).await?;
            claimed.files.extend(of_head.files);
            claimed.pointers.extend(of_head.pointers);
        }
        Ok((claimed, is_sure))
    }

    /// The files that are other than in the base, or new. What cannot be read is unseen.
    async fn changed(&mut self, top: &Path) -> Result<BTreeSet<Vec<u8>>> {
        let read = |known: &&Known| !known.is_same;
        let open: Vec<Vec<u8>> = self.known.iter().filter(read).map(|known| known.path.clone()).collect();
        let found = self.read(top, open).await?;
        let mut changed = found.other;
        self.unseen.extend(found.unseen);
        self.same = found.same;
        for path in self.new.keys() {
            match walk::unreadable(&top.join(OsStr::from_bytes(path))) {
                None => drop(changed.insert(path.clone())),
                Some(why) => self.unseen.push(Unseen { path: path.clone(), why }),
            }
        }
        self.unseen.sort();
        Ok(changed)
    }
}

impl Look<'_> {
    /// Reads files. States that may be kept are those of files that were read after the file system was settled.
    async fn read(&self, top: &Path, files: Vec<Vec<u8>>) -> Result<Differing> {
        let is_first = self.memory.is_first(files.len());
        let mut settled = if is_first { Settled::from_now_on(top).await } else { None };
        let mut found = walk::differing(top, files, &self.listing, self.memory.is_kept()).await?;
        if settled.is_none() && self.memory.is_worth(&found.same) {
            settled = Settled::from_now_on(top).await;
            // Only now it is known that many files are as in the base: they are read once more.
            if settled.is_some() {
                let files = std::mem::take(&mut found.same).into_keys().collect();
                let again = walk::differing(top, files, &self.listing, true).await?;
                found.other.extend(again.other);
                found.same = again.same;
            }
        }
        found.same.retain(|_, state| settled.is_some_and(|settled| settled.holds(state)));
        Ok(found)
    }
}

impl Snapshot {
    /// Finds what the base has and is not there: not any more, where a file has been deleted since its name was read.
    fn settle_gone(&mut self) {
        let is_there = |path: &[u8]| self.top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        let is_in_listing = |path: &[u8]| self.listing.files.contains_key(path);
        let lost = |path: &&Vec<u8>| is_in_listing(path) && !is_there(path);
        let lost: BTreeSet<Vec<u8>> = self.changed.iter().filter(lost).cloned().collect();
        self.changed.retain(|path| !lost.contains(path));
        let cannot_be_seen =
            |path: &[u8]| self.unseen.iter().any(|place| path.starts_with(&place.path) || place.path == path);
        let is_gone = |path: &&Vec<u8>| {
            path.starts_with(&self.prefix)
                && (!self.files.contains_key(*path) || lost.contains(*path))
                && !cannot_be_seen(path)
        };
        self.gone = self.listing.files.keys().filter(is_gone).cloned().collect();
    }

    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }

    /// Every file that is there, relative to the folder that was asked about, and whether it is a link.
    pub fn files(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let below = |(path, found): (_, &Found)| {
            let path: &Vec<u8> = path;
            Some((path.strip_prefix(&self.prefix[..])?, *found == Found::Link))
        };
        self.files.iter().filter_map(below)
    }

    /// Whether the commit has a path.
    pub fn has(&self, path: &[u8]) -> bool {
        self.listing.files.contains_key(path)
    }

    /// What a path of this snapshot is called in the folder that was asked about.
    pub fn relative<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        path.strip_prefix(&self.prefix[..]).unwrap_or(path)
    }

    /// A submodule is committed as a pointer. So the commit that it points to, or will, must have the files of its folder.
    async fn check_submodules(&mut self, mut claimed: BTreeSet<(Vec<u8>, String)>) -> Result<()> {
        for module in &self.listing.submodules {
            if let Some(head) = self.listing.sources[module.source].head().await? {
                self.pointers.insert(module.path.clone(), head.clone());
                claimed.insert((module.path.clone(), head));
            }
        }
        for (path, id) in claimed {
            if self.listing.pointers.get(&path) != Some(&id) && !self.is_as_committed(&path, &id).await? {
                self.unseen.push(Unseen { path, why: UnseenReason::OtherCommit(id) });
            }
        }
        Ok(())
    }

    /// Whether the folder of a submodule has the files of this commit, and no others.
    async fn is_as_committed(&self, path: &[u8], commit: &str) -> Result<bool> {
        let folder = self.top.join(OsStr::from_bytes(path));
        let Some(git) = repository_of(&self.user, &self.top, path, &folder).await else { return Ok(false) };
        let reading = Reading { top: &folder, prefix: b"" };
        let mut objects = LazyObjects::of(&git);
        let listing = Listing::read(&git, &mut objects, commit, &reading).await;
        let Ok(listing) = listing.map(Arc::new) else { return Ok(false) };
        let at = [path, b"/"].concat();
        let below = |(path, found): (&Vec<u8>, &Found)| Some((path.strip_prefix(&at[..])?.to_vec(), *found));
        let files: BTreeMap<Vec<u8>, Found> = self.files.iter().filter_map(below).collect();
        let known = files.keys().filter(|path| listing.files.contains_key(*path)).cloned().collect();
        let found = walk::differing(&folder, known, &listing, false).await?;
        let is_same = found.other.is_empty() && found.unseen.is_empty();
        Ok(is_same && files.keys().eq(listing.files.keys()))
    }
}

/// The new mode, the new id and the path of each difference that git lists.
pub(super) fn raw(said: &[u8]) -> impl Iterator<Item = (&str, &str, &[u8])> {
    let mut fields = said.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let head = std::str::from_utf8(fields.next()?.strip_prefix(b":")?).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        Some((*words.get(1)?, *words.get(3)?, fields.next()?))
    })
}

fn failed(error: io::Error) -> GitError {
    GitError::unexpected(COMMAND, error.to_string())
}
