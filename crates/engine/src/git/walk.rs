//! The files of a worktree as they are on disk, each compared with the id that a commit has for it. No index is asked: one
//! that says that a file is unchanged can be written by everybody.

use super::kept::FileState;
use super::listing::{LINK, ListedFile, Listing};
use super::objects::Hasher;
use super::{GitError, Result};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{DirEntry, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

const GIT_FOLDER: &[u8] = b".git";
const BUFFER_BYTES: usize = 128 * 1024;
const OWNER_EXECUTES: u32 = 0o100;
/// Fewer are not worth another thread.
const SHARE_MIN: usize = 16;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File,
    Link,
}

/// A place that cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unseen {
    /// From the root of the worktree; a folder has a `/` at its end.
    pub path: Vec<u8>,
    pub why: UnseenReason,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnseenReason {
    /// What the system says.
    Unreadable(String),
    /// A pipe, a socket or a device.
    Special,
    /// A submodule whose commit has other files than its folder.
    OtherCommit(String),
    /// Git does not take a file of this name.
    Name,
}

/// A file that the commit has too.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) path: Vec<u8>,
    pub(super) found: Found,
    /// Whether it is in the state in which it was as in the commit.
    pub(super) is_same: bool,
}

/// What one level of folders has.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// Folders to look into next.
    pub(super) folders: Vec<Vec<u8>>,
    pub(super) known: Vec<Known>,
    /// What the commit has not; folders with a `/` at their ends.
    pub(super) unknown: Vec<(Vec<u8>, Option<Found>)>,
    pub(super) unseen: Vec<Unseen>,
}

/// Does some work for all items in as many threads as there are processors, off the async runtime.
async fn in_parallel<T: Send + 'static, R: Send + 'static>(
    mut items: Vec<T>,
    work: impl Fn(Vec<T>) -> R + Clone + Send + 'static,
) -> Result<Vec<R>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(SHARE_MIN);
    let mut tasks = vec![];
    while !items.is_empty() {
        let (some, work) = (items.split_off(items.len().saturating_sub(share)), work.clone());
        tasks.push(tokio::task::spawn_blocking(move || work(some)));
    }
    let mut done = vec![];
    for task in tasks {
        done.push(task.await.map_err(|error| GitError::unexpected("update-index", error.to_string()))?);
    }
    Ok(done)
}

/// Looks into folders, given with a `/` at their ends.
pub(super) async fn look(top: &Path, folders: Vec<Vec<u8>>, listing: &Arc<Listing>) -> Result<Level> {
    let (top, listing) = (top.to_owned(), Arc::clone(listing));
    let mut level = Level::default();
    for part in in_parallel(folders, move |folders| look_into(&top, &folders, &listing)).await? {
        level.folders.extend(part.folders);
        level.known.extend(part.known);
        level.unknown.extend(part.unknown);
        level.unseen.extend(part.unseen);
    }
    Ok(level)
}

fn look_into(top: &Path, folders: &[Vec<u8>], listing: &Listing) -> Level {
    let mut level = Level::default();
    for folder in folders {
        let real = top.join(OsStr::from_bytes(folder));
        let unreadable = |error: &io::Error| Unseen {
            path: folder.clone(),
            why: UnseenReason::Unreadable(error.kind().to_string()),
        };
        let entries = match std::fs::read_dir(&real) {
            Ok(entries) => entries,
            // It is gone since its name was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                level.unseen.push(unreadable(&error));
                continue;
            }
        };
        for entry in entries {
            let found = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
            let (kind, entry) = match found {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    level.unseen.push(unreadable(&error));
                    continue;
                }
            };
            let name = entry.file_name();
            if name.as_bytes() != GIT_FOLDER {
                level.sort([folder, name.as_bytes()].concat(), kind, &entry, listing);
            }
        }
    }
    level
}

impl Level {
    fn sort(&mut self, path: Vec<u8>, kind: FileType, entry: &DirEntry, listing: &Listing) {
        if kind.is_dir() {
            let is_known = listing.folders.contains(&path);
            let path = [&path[..], b"/"].concat();
            match is_known {
                true => self.folders.push(path),
                false => self.unknown.push((path, None)),
            }
            return;
        }
        let is_special =
            kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
        let found = match kind.is_symlink() {
            true => Found::Link,
            false => Found::File,
        };
        match listing.files.get(&path) {
            _ if is_special => self.unseen.push(Unseen { path, why: UnseenReason::Special }),
            Some(listed) => {
                let state = || FileState::of(&entry.metadata().ok()?);
                let is_same = listed.state.is_some() && listed.state == state();
                self.known.push(Known { path, found, is_same });
            }
            None => self.unknown.push((path, Some(found))),
        }
    }
}

/// What a comparison of files with those of a commit shows.
#[derive(Debug, Default)]
pub(super) struct Differing {
    pub(super) other: BTreeSet<Vec<u8>>,
    pub(super) unseen: Vec<Unseen>,
    /// Files as in the commit, where their states are wanted.
    pub(super) same: BTreeMap<Vec<u8>, FileState>,
}

/// Which of these files are other than the commit has them, and which cannot be read.
pub(super) async fn differing(
    top: &Path,
    files: Vec<Vec<u8>>,
    listing: &Arc<Listing>,
    wants_states: bool,
) -> Result<Differing> {
    let (top, listing) = (top.to_owned(), Arc::clone(listing));
    let mut all = Differing::default();
    for part in in_parallel(files, move |files| compare(&top, files, &listing, wants_states)).await? {
        all.other.extend(part.other);
        all.unseen.extend(part.unseen);
        all.same.extend(part.same);
    }
    Ok(all)
}

fn compare(top: &Path, paths: Vec<Vec<u8>>, listing: &Listing, wants_states: bool) -> Differing {
    let mut found = Differing::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    for path in paths {
        let Some(listed) = listing.files.get(&path) else { continue };
        match is_same(&top.join(OsStr::from_bytes(&path)), listed, &mut buffer) {
            Ok(Some(state)) => {
                found.same.extend(state.filter(|_| wants_states).map(|state| (path, state)));
            }
            // What is gone since its name was read is looked at again.
            Ok(None) => drop(found.other.insert(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => drop(found.other.insert(path)),
            Err(error) => {
                let why = UnseenReason::Unreadable(error.kind().to_string());
                found.unseen.push(Unseen { path, why });
            }
        }
    }
    found
}

/// The state of a file whose bytes and mode on disk are those of the commit; none where they are not. A state that was another
/// one after reading is not told, and neither is that of a link, which is read at once.
fn is_same(path: &Path, listed: &ListedFile, buffer: &mut [u8]) -> io::Result<Option<Option<FileState>>> {
    let (wanted, letters) = (listed.id.to_string(), listed.id.letters());
    if listed.mode == LINK {
        let found = path.symlink_metadata()?;
        if !found.is_symlink() {
            return Ok(None);
        }
        let target = std::fs::read_link(path)?;
        let id = super::objects::hash("blob", target.as_os_str().as_bytes(), letters);
        return Ok((id == wanted).then_some(None));
    }
    let found = hashed(path, listed.mode, buffer, |size| Hasher::new("blob", size, letters))?;
    Ok(found.filter(|(id, _)| *id == wanted).map(|(_, state)| state))
}

/// Whether a file has other contents than those that a pointer names, or another mode, or cannot be read.
pub(super) fn differs_from_pointer(top: &Path, path: &[u8], mode: &str, sha256: &str) -> bool {
    let path = top.join(OsStr::from_bytes(path));
    let id = hashed(&path, mode, &mut vec![0; BUFFER_BYTES], |_| Hasher::sha256());
    !id.is_ok_and(|found| found.is_some_and(|(id, _)| id == sha256))
}

/// The hash of a plain file with this mode, and its state; none where it is something else.
fn hashed(
    path: &Path,
    mode: &str,
    buffer: &mut [u8],
    start: impl FnOnce(u64) -> Hasher,
) -> io::Result<Option<(String, Option<FileState>)>> {
    let Some((mut file, found)) = open(path)? else { return Ok(None) };
    let is_mode = if found.mode() & OWNER_EXECUTES == 0 { "100644" } else { "100755" };
    if is_mode != mode {
        return Ok(None);
    }
    let mut hasher = start(found.size());
    loop {
        match file.read(buffer) {
            Ok(0) => {
                let state = FileState::of(&found).filter(|state| {
                    file.metadata().is_ok_and(|after| FileState::of(&after).as_ref() == Some(state))
                });
                return Ok(Some((hasher.id(), state)));
            }
            Ok(n) => hasher.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Why a file cannot be read; none where it can.
pub(super) fn unreadable(path: &Path) -> Option<UnseenReason> {
    match open(path) {
        Ok(_) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(UnseenReason::Unreadable(error.kind().to_string())),
    }
}

/// Opens a plain file; none where it is something else. A pipe does not keep us waiting.
pub(super) fn open(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let opened = File::options().read(true).custom_flags(flags.cast_signed()).open(path);
    let file = match opened {
        Ok(file) => file,
        // A link is refused as a loop.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    Ok(found.is_file().then_some((file, found)))
}
