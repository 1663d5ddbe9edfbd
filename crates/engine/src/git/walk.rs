//! The files of a worktree as they are on disk, each compared with the id that a commit has for it. No index is asked: one
//! that says that a file is unchanged can be written by everybody.

use super::listing::{LINK, ListedFile, Listing};
use super::objects::Hasher;
use super::{GitError, Result};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

const GIT_FOLDER: &[u8] = b".git";
const BUFFER_BYTES: usize = 128 * 1024;
const OWNER_EXECUTES: u32 = 0o100;

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
}

/// What one level of folders has.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// Folders to look into next.
    pub(super) folders: Vec<Vec<u8>>,
    /// Files that the commit has.
    pub(super) known: Vec<(Vec<u8>, Found)>,
    /// What the commit has not; folders with a `/` at their ends.
    pub(super) unknown: Vec<(Vec<u8>, Option<Found>)>,
    pub(super) unseen: Vec<Unseen>,
}

/// Looks into folders, given with a `/` at their ends.
pub(super) fn look(top: &Path, folders: &[Vec<u8>], listing: &Listing) -> Level {
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
            let found = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
            let (name, kind) = match found {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    level.unseen.push(unreadable(&error));
                    continue;
                }
            };
            if name.as_bytes() != GIT_FOLDER {
                level.sort([folder, name.as_bytes()].concat(), kind, listing);
            }
        }
    }
    level
}

impl Level {
    fn sort(&mut self, path: Vec<u8>, kind: FileType, listing: &Listing) {
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
        match listing.files.contains_key(&path) {
            _ if is_special => self.unseen.push(Unseen { path, why: UnseenReason::Special }),
            true => self.known.push((path, found)),
            false => self.unknown.push((path, Some(found))),
        }
    }
}

/// Which of these files are other than the commit has them, and which cannot be read. In parallel, off the async runtime.
pub(super) async fn differing(
    top: &Path,
    files: &BTreeMap<Vec<u8>, Found>,
    listing: &Arc<Listing>,
) -> Result<(BTreeSet<Vec<u8>>, Vec<Unseen>)> {
    let known: Vec<Vec<u8>> =
        files.keys().filter(|path| listing.files.contains_key(*path)).cloned().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = known.len().div_ceil(threads).max(1);
    let mut tasks = vec![];
    for some in known.chunks(share) {
        let (top, some, listing) = (top.to_owned(), some.to_vec(), Arc::clone(listing));
        tasks.push(tokio::task::spawn_blocking(move || compare(&top, some, &listing)));
    }
    let (mut differing, mut unseen) = (BTreeSet::new(), vec![]);
    for task in tasks {
        let (other, unread) =
            task.await.map_err(|error| GitError::unexpected("update-index", error.to_string()))?;
        differing.extend(other);
        unseen.extend(unread);
    }
    Ok((differing, unseen))
}

fn compare(top: &Path, paths: Vec<Vec<u8>>, listing: &Listing) -> (Vec<Vec<u8>>, Vec<Unseen>) {
    let (mut other, mut unseen) = (vec![], vec![]);
    let mut buffer = vec![0; BUFFER_BYTES];
    for path in paths {
        let Some(listed) = listing.files.get(&path) else { continue };
        match is_same(&top.join(OsStr::from_bytes(&path)), listed, &mut buffer) {
            Ok(true) => {}
            // What is gone since its name was read is looked at again.
            Ok(false) => other.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => other.push(path),
            Err(error) => {
                let why = UnseenReason::Unreadable(error.kind().to_string());
                unseen.push(Unseen { path, why });
            }
        }
    }
    (other, unseen)
}

/// Whether the bytes on disk are those of the commit, and the mode too.
fn is_same(path: &Path, listed: &ListedFile, buffer: &mut [u8]) -> io::Result<bool> {
    if listed.mode == LINK {
        let found = path.symlink_metadata()?;
        if !found.is_symlink() {
            return Ok(false);
        }
        let target = std::fs::read_link(path)?;
        let target = target.as_os_str().as_bytes();
        return Ok(super::objects::hash("blob", target, listed.id.len()) == listed.id);
    }
    let start = |size| Hasher::new("blob", size, listed.id.len());
    Ok(hashed(path, &listed.mode, buffer, start)?.is_some_and(|id| id == listed.id))
}

/// Whether a file has other contents than those that a pointer names, or another mode, or cannot be read.
pub(super) fn differs_from_pointer(top: &Path, path: &[u8], mode: &str, sha256: &str) -> bool {
    let path = top.join(OsStr::from_bytes(path));
    let id = hashed(&path, mode, &mut vec![0; BUFFER_BYTES], |_| Hasher::sha256());
    !id.is_ok_and(|id| id.as_deref() == Some(sha256))
}

/// The hash of a plain file with this mode; none where it is something else.
fn hashed(
    path: &Path,
    mode: &str,
    buffer: &mut [u8],
    start: impl FnOnce(u64) -> Hasher,
) -> io::Result<Option<String>> {
    let Some((mut file, found)) = open(path)? else { return Ok(None) };
    let is_mode = if found.mode() & OWNER_EXECUTES == 0 { "100644" } else { "100755" };
    if is_mode != mode {
        return Ok(None);
    }
    let mut hasher = start(found.size());
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(Some(hasher.id())),
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
fn open(path: &Path) -> io::Result<Option<(File, Metadata)>> {
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
