//! What an earlier call found, kept between calls: the files of the base, and which of the files on disk had exactly their
//! contents. Whoever can write the project can write this file, so it counts only with the digest on record for it.

use super::kept_format::{self, Head};
use super::listing::{Claimed, Listing, Reading};
use super::objects::LazyObjects;
use super::run::Result;
use super::{Git, walk};
use crate::private;
use countersign_core::digest::{Digest, Parts};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const SECOND_NS: i64 = 1_000_000_000;
/// A clock of the kernel that moves on every hundredth of a second is the slowest there is; ten times that.
const TICKS_NS: i64 = 100_000_000;
const LIST_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// From how many files on a list is kept, and from how many files on that had to be read again it is renewed.
const WORTH_FILES: usize = 100;
const WORTH_BYTES: u64 = 1024 * 1024;
const IGNORED_MAX: usize = 10_000;
const NAME_LETTERS: usize = 20;
const FOLDER: &str = "room";

/// Where a list is kept, and the digest on record for it.
#[derive(Clone, Debug)]
pub struct Kept {
    file: PathBuf,
    digest: Option<Digest>,
    outcome: Arc<Mutex<Outcome>>,
}

#[derive(Clone, Debug, Default)]
struct Outcome {
    renewed: Option<Digest>,
    unread: usize,
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.digest) == (&other.file, &other.digest)
    }
}

impl Eq for Kept {}

impl Kept {
    /// The name of the list of a folder.
    pub fn name(root: &Path) -> String {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = Parts::new("room/1").bytes(root.as_os_str().as_bytes()).digest();
        name.as_str().chars().take(NAME_LETTERS).collect()
    }

    /// The list of this name, in a folder of ours. `digest` is what is on record for it.
    pub fn new(own_folder: &Path, name: &str, digest: Option<Digest>) -> Self {
        Self { file: own_folder.join(FOLDER).join(name), digest, outcome: Arc::default() }
    }

    /// The digest of the list, if it was written anew: the caller puts it on record.
    pub fn renewed(&self) -> Option<Digest> {
        self.outcome().renewed.clone()
    }

    /// How many files were not read in the last look, because of the list.
    pub fn unread(&self) -> usize {
        self.outcome().unread
    }

    /// Whether files below this folder can be left unread at all.
    pub fn works_in(folder: &Path) -> bool {
        Settled::make(folder).is_some()
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was kept. Nothing where anything about it is odd: then everything is read again.
    fn load(&self, reading: &Reading<'_>) -> Option<(Head, Listing)> {
        let wanted = self.digest.as_ref()?;
        let (file, found) = walk::open(&self.file).ok()??;
        if found.len() > LIST_BYTES_MAX {
            return None;
        }
        let mut bytes = vec![];
        file.take(LIST_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        if Digest::of(&bytes) != *wanted {
            return None;
        }
        let (head, listing) = kept_format::decode(&bytes)?;
        let is_here = head.top == reading.top.as_os_str().as_bytes() && head.prefix == reading.prefix;
        (is_here && head.made_ns <= now_ns()?).then_some((head, listing))
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let digest = Digest::of(bytes);
        if let Some(folder) = self.file.parent() {
            private::make_folders(folder)?;
        }
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Half a file, or one that two processes wrote, has another digest.
        io::Write::write_all(&mut private::make_new_file(&self.file)?, bytes)?;
        self.outcome().renewed = Some(digest);
        Ok(())
    }
}

/// What the file system says of a file. The owner of a file can set the time of its last edit, but not that of its last
/// change of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) edited_ns: i64,
    pub(super) changed_ns: i64,
}

impl FileState {
    /// None where a time is too far away to be a number.
    pub(super) fn of(found: &Metadata) -> Option<Self> {
        let ns = |seconds: i64, rest: i64| seconds.checked_mul(SECOND_NS)?.checked_add(rest);
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            mode: found.mode(),
            edited_ns: ns(found.mtime(), found.mtime_nsec())?,
            changed_ns: ns(found.ctime(), found.ctime_nsec())?,
        })
    }

    /// Whether an edit after this moment leaves another time. Some file systems note whole seconds only.
    fn is_older_than(&self, moment_ns: i64) -> bool {
        let step = if self.changed_ns % SECOND_NS == 0 { 2 * SECOND_NS } else { TICKS_NS };
        self.changed_ns.checked_add(step).is_some_and(|then| then < moment_ns)
    }
}

fn now_ns() -> Option<i64> {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// From here on every write to a file of this device leaves another time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    moment_ns: i64,
    device: u64,
}

impl Settled {
    /// The kernel notes no time when a process writes into memory that it shares with a file, once it did so before. That
    /// ends when the contents are written to the disk. Only these file systems are known to work like this; files in
    /// memory do not.
    #[cfg(target_os = "linux")]
    fn make(top: &Path) -> Option<Self> {
        const EXT: u64 = 0xEF53;
        const XFS: u64 = 0x5846_5342;
        const BTRFS: u64 = 0x9123_683E;
        let moment_ns = now_ns()?;
        let folder = std::fs::File::open(top).ok()?;
        let kind = rustix::fs::fstatfs(&folder).ok()?.f_type;
        let is_known = [EXT, XFS, BTRFS].iter().any(|known| u64::try_from(kind).ok() == Some(*known));
        if !is_known {
            return None;
        }
        rustix::fs::syncfs(&folder).ok()?;
        Some(Self { moment_ns, device: folder.metadata().ok()?.dev() })
    }

    #[cfg(not(target_os = "linux"))]
    fn make(_top: &Path) -> Option<Self> {
        None
    }

    pub(super) async fn from_now_on(top: &Path) -> Option<Self> {
        let top = top.to_owned();
        tokio::task::spawn_blocking(move || Self::make(&top)).await.ok().flatten()
    }

    pub(super) fn holds(&self, state: &FileState) -> bool {
        state.device == self.device && state.is_older_than(self.moment_ns)
    }
}

/// What HEAD and the index of the user claim: for this commit and exactly these bytes of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptClaims {
    pub(super) head: String,
    /// The digest of the index.
    pub(super) index: String,
    pub(super) claimed: Claimed,
}

/// The kept list in one call: what it says, and what is found out anew.
#[derive(Default)]
pub(super) struct Memory<'k> {
    kept: Option<&'k Kept>,
    has_list: bool,
    /// Whether the base is the one that the list is about.
    is_same_base: bool,
    ignored: BTreeSet<Vec<u8>>,
    ignored_before: usize,
    claims: Option<KeptClaims>,
}

impl<'k> Memory<'k> {
    /// Reads the list, and the files of the base where it does not have them.
    pub(super) async fn open(
        kept: Option<&'k Kept>,
        git: &Git,
        objects: &mut LazyObjects,
        base: &str,
        reading: &Reading<'_>,
    ) -> Result<(Self, Listing)> {
        let mut memory = Self { kept, ..Self::default() };
        let Some((head, known)) = kept.and_then(|kept| kept.load(reading)) else {
            return Ok((memory, Listing::read(git, objects, base, reading).await?));
        };
        memory.has_list = true;
        // Which submodules are checked out may have changed.
        if head.base == base && known.pointers.is_empty() {
            (memory.is_same_base, memory.ignored, memory.claims) = (true, head.ignored, head.claims);
            return Ok((memory, Listing { sources: vec![git.clone()], ..known }));
        }
        let mut listing = Listing::read(git, objects, base, reading).await?;
        listing.take_states(known);
        Ok((memory, listing))
    }

    /// The paths that are known to be ignored.
    pub(super) fn take_ignored(&mut self) -> BTreeSet<Vec<u8>> {
        self.ignored_before = self.ignored.len();
        std::mem::take(&mut self.ignored)
    }

    /// What HEAD and the index claim, if both are as they were.
    pub(super) fn claims(&self, head: &str, index: &str) -> Option<&Claimed> {
        let known = self.claims.as_ref()?;
        (known.head == head && known.index == index).then_some(&known.claimed)
    }

    /// Whether what is found out anew is of use to a later call.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether there is no list yet, and the files are many enough for one.
    pub(super) fn is_first(&self, files: usize) -> bool {
        self.kept.is_some() && !self.has_list && files >= WORTH_FILES
    }

    /// Whether it is worth it to keep the states of these files.
    pub(super) fn is_worth(&self, same: &BTreeMap<Vec<u8>, FileState>) -> bool {
        let bytes = || same.values().map(|state| state.size).sum::<u64>();
        self.kept.is_some() && (same.len() >= WORTH_FILES || bytes() >= WORTH_BYTES)
    }

    /// Writes the list anew, if there is enough to keep. Where it cannot be written, the next call reads everything again.
    pub(super) fn renew(self, base: &str, reading: &Reading<'_>, listing: &Listing, found: Renewed) {
        let Some(kept) = self.kept else { return };
        kept.outcome().unread = found.unread;
        tracing::debug!("{} of {} files were not read again", found.unread, listing.files.len());
        let is_other = !self.is_same_base && listing.files.len() >= WORTH_FILES;
        let has_more = found.ignored.len() >= self.ignored_before + WORTH_FILES;
        if found.same.is_empty() && !is_other && !has_more {
            return;
        }
        let Some(made_ns) = now_ns() else { return };
        let head = Head {
            made_ns,
            top: reading.top.as_os_str().as_bytes().to_vec(),
            prefix: reading.prefix.to_vec(),
            base: base.to_owned(),
            ignored: found.ignored.into_iter().take(IGNORED_MAX).collect(),
            claims: found.claims.or(self.claims),
        };
        if let Err(error) = kept.write(&kept_format::encode(&head, listing, &found.same)) {
            tracing::debug!("the list of files could not be kept: {error}");
        }
    }
}

/// What a call found out that the next one may use.
#[derive(Default)]
pub(super) struct Renewed {
    /// Files that were read and are as in the base.
    pub(super) same: BTreeMap<Vec<u8>, FileState>,
    pub(super) ignored: BTreeSet<Vec<u8>>,
    pub(super) claims: Option<KeptClaims>,
    /// How many files were not read.
    pub(super) unread: usize,
}
