//! The files of a worktree as they are on disk, compared with a commit: the user's index, settings, attributes and filters
//! have no say, and only the ignore rules of the commit count. What the commit, HEAD or the index has is never ignored.

use super::ignored::IgnoreRules;
use super::listing::{Claimed, Listing, Reading, repository_of};
use super::objects::{Objects, SUBMODULE};
use super::room::Room;
use super::walk::{self, Found, Unseen, UnseenReason};
use super::{Git, GitError, Result, is_repository};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OWN_STATE: &[u8] = b".countersign/";
const COMMAND: &str = "update-index";
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
    room: Room,
    rules: IgnoreRules,
    objects: Objects,
    listing: Arc<Listing>,
    files: BTreeMap<Vec<u8>, Found>,
    unseen: Vec<Unseen>,
}

impl Git {
    /// Looks at the files below the folder. `scratch` is a folder of ours for this call.
    pub async fn snapshot(&self, base: Option<&str>, scratch: &Path) -> Result<Snapshot> {
        let top = self.top();
        let prefix = self.below_top(&top);
        let base = match base {
            Some(base) => base.to_owned(),
            None => self.empty_tree().await?,
        };
        let reading = Reading { top: &top, prefix: &prefix };
        let (listing, objects) = Listing::read(self, &base, &reading).await?;
        let listing = Arc::new(listing);
        let room = Room::make(scratch, None, listing.letters).map_err(failed)?;
        let rules = IgnoreRules::within(room.other_folder("rules"));
        let (files, unseen) = (BTreeMap::new(), vec![]);
        let mut look = Look { user: self, base: &base, room, rules, objects, listing, files, unseen };
        look.walk(&top, &prefix).await?;
        let claimed = look.add_claimed(&top, &prefix).await?;
        look.room.require_untouched()?;
        let Look { listing, files, mut unseen, .. } = look;
        let (mut changed, unread) = walk::differing(&top, &files, &listing).await?;
        unseen.extend(unread);
        let is_there = |path: &Vec<u8>| top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        changed.retain(is_there);
        for path in files.keys().filter(|path| !listing.files.contains_key(*path)) {
            match walk::unreadable(&top.join(OsStr::from_bytes(path))) {
                None => drop(changed.insert(path.clone())),
                Some(why) => unseen.push(Unseen { path: path.clone(), why }),
            }
        }
        unseen.sort();
        let cannot_be_seen =
            |path: &[u8]| unseen.iter().any(|place| path.starts_with(&place.path) || place.path == path);
        let is_gone = |path: &&Vec<u8>| {
            path.starts_with(&prefix)
                && !cannot_be_seen(path)
                && (!files.contains_key(*path) || !is_there(path))
        };
        let gone = listing.files.keys().filter(is_gone).cloned().collect();
        let (user, base) = (self.clone(), base.clone());
        let pointers = BTreeMap::new();
        let mut snapshot =
            Snapshot { base, unseen, user, top, prefix, listing, changed, gone, files, pointers };
        snapshot.check_submodules(claimed).await?;
        Ok(snapshot)
    }

    /// The root of the worktree around the folder.
    fn top(&self) -> PathBuf {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        folder.ancestors().find(|folder| is_repository(folder)).map(Path::to_owned).unwrap_or(folder)
    }

    /// The path of the folder in its worktree, with a `/` at its end.
    fn below_top(&self, top: &Path) -> Vec<u8> {
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
            let (at, listing) = (top.to_owned(), Arc::clone(&self.listing));
            let look = move || walk::look(&at, &folders, &listing);
            let level = tokio::task::spawn_blocking(look).await;
            let mut level = level.map_err(|error| failed(io::Error::other(error)))?;
            // Our own state is no work, but for what is tracked of it.
            level.unknown.retain(|(path, _)| !path.starts_with(&own_state));
            self.files.extend(level.known);
            let unseen = level.unseen.iter().filter(|place| !self.listing.files.contains_key(&place.path));
            let asked: Vec<&[u8]> = level.unknown.iter().map(|(path, _)| path.as_slice()).collect();
            let asked: Vec<&[u8]> =
                asked.into_iter().chain(unseen.map(|place| place.path.as_slice())).collect();
            let ignored = self.rules.ignored(&self.room, &self.listing, &mut self.objects, &asked).await?;
            self.unseen.extend(level.unseen.into_iter().filter(|place| !ignored.contains(&place.path)));
            folders = level.folders;
            for (path, found) in level.unknown {
                match found {
                    _ if ignored.contains(&path) => {}
                    None => folders.push(path),
                    Some(found) => drop(self.files.insert(path, found)),
                }
            }
            if self.files.len() > self.listing.files.len() + NEW_MAX {
                let words = format!("more than {NEW_MAX} new files would be judged");
                return Err(GitError::unexpected(COMMAND, words));
            }
        }
        Ok(())
    }

    /// Adds what is ignored, but HEAD or the user's index has: it is or will be committed. Returns the commits that they name
    /// for submodules.
    async fn add_claimed(&mut self, top: &Path, prefix: &[u8]) -> Result<BTreeSet<(Vec<u8>, String)>> {
        const STAGED: &str = "diff-index --cached --raw -z --abbrev=64 --no-renames --ignore-submodules=none";
        let staged = STAGED.split(' ').chain([self.base, "--"]);
        // An index that cannot be read names nothing.
        let said = self.user.clone().within(top).run(staged).await.unwrap_or_default();
        let mut claimed = Claimed::default();
        for (mode, id, path) in raw(&said).filter(|(_, _, path)| path.starts_with(prefix)) {
            match mode {
                SUBMODULE => drop(claimed.pointers.insert((path.to_vec(), id.to_owned()))),
                _ if self.listing.files.contains_key(path) => {}
                _ => drop(claimed.files.insert(path.to_vec())),
            }
        }
        if self.objects.one("HEAD").await?.is_some_and(|head| head.id != self.base) {
            let reading = Reading { top, prefix };
            let of_head = self.listing.only_in(&mut self.objects, "HEAD", &reading).await?;
            claimed.files.extend(of_head.files);
            claimed.pointers.extend(of_head.pointers);
        }
        for name in claimed.files {
            match top.join(OsStr::from_bytes(&name)).symlink_metadata() {
                Ok(found) if found.is_symlink() => drop(self.files.insert(name, Found::Link)),
                Ok(found) if found.is_file() => drop(self.files.insert(name, Found::File)),
                _ => {}
            }
        }
        Ok(claimed.pointers)
    }
}

impl Snapshot {
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
        let Ok((listing, _)) = Listing::read(&git, commit, &reading).await else { return Ok(false) };
        let listing = Arc::new(listing);
        let at = [path, b"/"].concat();
        let below = |(path, found): (&Vec<u8>, &Found)| Some((path.strip_prefix(&at[..])?.to_vec(), *found));
        let files: BTreeMap<Vec<u8>, Found> = self.files.iter().filter_map(below).collect();
        let (other, unread) = walk::differing(&folder, &files, &listing).await?;
        Ok(other.is_empty() && unread.is_empty() && files.keys().eq(listing.files.keys()))
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
