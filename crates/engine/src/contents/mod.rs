//! Judged contents: texts that were judged, kept for some days by the digest of their bytes, so that findings can be shown
//! beside them. Nothing here is ever an input of judging, and everything may be removed at any time.
//!
//! `FOLDER/ab/cdef…` is the text whose bytes have the digest `abcdef…`, compressed, without secrets, with a seal inside
//! (see `sealed`): a file that was edited or damaged is not shown. It is no proof against a forger with the same account,
//! who can make a new seal.

mod sealed;
mod sweep;

use crate::private;
use countersign_core::digest::Digest;
use rustix::fs::OFlags;
use sealed::Sealed;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use sweep::Listing;

/// A longer text is not kept.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// All files together, compressed: for new ones the oldest go.
pub const TOTAL_BYTES_MAX: u64 = 256 * 1024 * 1024;
pub const FILES_MAX: usize = 20_000;
/// How much is added at once.
pub const ROUND_FILES_MAX: usize = 2_000;
pub const ROUND_BYTES_MAX: u64 = 64 * 1024 * 1024;

const FOLDER: &str = "contents";
/// How the name of a file begins that was not finished, because its writer was killed.
const UNFINISHED: &str = ".part-";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The contents beside a ledger.
#[derive(Clone, Debug)]
pub struct Contents {
    folder: PathBuf,
    days: u32,
    now: SystemTime,
}

/// A text that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<'t> {
    /// The digest of the bytes it was made of.
    pub digest: &'t Digest,
    pub text: &'t str,
    /// Which secrets were replaced in it: another setting replaces others.
    pub redaction: &'t str,
}

/// A text as it was judged, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptText {
    pub text: String,
    /// When it was judged last, to the day.
    pub at: SystemTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// It was never kept, or is not kept any more.
    Gone,
    /// What is kept is not what was written.
    Edited,
}

impl Contents {
    /// The contents beside the ledger in this folder, which are kept for so many days; for none, nothing is kept.
    pub fn beside(ledger: &Path, days: u32, now: SystemTime) -> Self {
        Self { folder: ledger.join(FOLDER), days, now }
    }

    /// The text that was made of these bytes.
    pub fn find(&self, digest: &Digest) -> Result<KeptText, NotKept> {
        let (Some(path), 1..) = (self.path(digest), self.days) else { return Err(NotKept::Gone) };
        let (bytes, at) = read(&path).map_err(|_| NotKept::Gone)?.ok_or(NotKept::Edited)?;
        if self.is_expired(at) {
            return Err(NotKept::Gone);
        }
        let text = Sealed::read(&bytes).and_then(|sealed| sealed.open(digest)).ok_or(NotKept::Edited)?;
        Ok(KeptText { text, at })
    }

    /// Where the text of a digest is; none where a name is no digest, because it would be a path then.
    fn path(&self, digest: &Digest) -> Option<PathBuf> {
        let hex = digest.as_str();
        let is_hex = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (folder, name) = hex.split_at_checked(2).filter(|_| is_hex)?;
        Some(self.folder.join(folder).join(name))
    }

    /// What was written in the future expires too: then a clock was wrong.
    fn is_expired(&self, at: SystemTime) -> bool {
        let oldest = DAY.saturating_mul(self.days);
        let is_young = match self.now.duration_since(at) {
            Ok(age) => age <= oldest,
            Err(ahead) => ahead.duration() <= DAY,
        };
        !is_young
    }
}

/// The bytes of a kept file and when it was written; none where it is no file of ours.
fn read(path: &Path) -> io::Result<Option<(Vec<u8>, SystemTime)>> {
    // Another program may have put a link or a pipe there.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > sealed::BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = vec![];
    file.take(sealed::BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some((bytes, metadata.modified()?)))
}

/// Adds texts, and makes room for them.
pub struct Keeper<'c> {
    contents: &'c Contents,
    /// What is there, looked at once something has to be written.
    listing: Option<Listing>,
    added_files: usize,
    added_bytes: u64,
    /// How many were left out for want of room.
    pub left_out: usize,
}

impl Contents {
    /// Begins to add texts. Nothing is added where nothing is to be kept; then everything is removed.
    pub fn keeper(&self) -> io::Result<Option<Keeper<'_>>> {
        if self.days == 0 {
            return sweep::remove_all(&self.folder).map(|()| None);
        }
        Ok(Some(Keeper { contents: self, listing: None, added_files: 0, added_bytes: 0, left_out: 0 }))
    }
}

impl Keeper<'_> {
    /// Whether the text of a digest is there as it was written, with these secrets replaced. Then it is kept from today on.
    pub fn has(&self, digest: &Digest, redaction: &str) -> bool {
        let Contents { now, .. } = *self.contents;
        let Some(path) = self.contents.path(digest) else { return false };
        let Ok(Some((bytes, at))) = read(&path) else { return false };
        let sealed = Sealed::read(&bytes).filter(|sealed| sealed.is_of(redaction));
        if sealed.and_then(|sealed| sealed.open(digest)).is_none() || self.contents.is_expired(at) {
            return false;
        }
        if now.duration_since(at).is_ok_and(|age| age > DAY) {
            let opened = File::options().append(true).open(&path);
            return opened.and_then(|file| file.set_modified(now)).is_ok();
        }
        true
    }

    /// Adds a text; false where it is too long or there is no room for it.
    pub fn add(&mut self, judged: &Judged<'_>) -> io::Result<bool> {
        let bytes = judged.text.len() as u64;
        let Some(path) = self.contents.path(judged.digest) else { return Ok(false) };
        if bytes > FILE_BYTES_MAX {
            return Ok(false);
        }
        if self.added_files >= ROUND_FILES_MAX || self.added_bytes + bytes > ROUND_BYTES_MAX {
            self.left_out += 1;
            return Ok(false);
        }
        let sealed = sealed::seal(judged);
        let folder = &self.contents.folder;
        let listing = match &mut self.listing {
            Some(listing) => listing,
            none => none.insert(Listing::swept(self.contents)?),
        };
        if !listing.make_room(sealed.len() as u64) {
            self.left_out += 1;
            return Ok(false);
        }
        write(folder, &path, &sealed)?;
        self.added_files += 1;
        self.added_bytes += bytes;
        Ok(true)
    }

    /// Removes what is expired, unless that was done lately.
    pub fn sweep(self) -> io::Result<()> {
        let folder = &self.contents.folder;
        if self.listing.is_none() && sweep::is_due(folder, self.contents.now) {
            Listing::swept(self.contents)?;
        }
        Ok(())
    }
}

/// Writes a file whole or not at all. What a loss of power makes of it is noticed by its seal, so nothing is waited for.
fn write(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(inner) = path.parent() else { return Ok(()) };
    make_folder(folder)?;
    make_folder(inner)?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(inner)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a folder that is not there. A link in its place would lead elsewhere.
fn make_folder(path: &Path) -> io::Result<()> {
    match private::make_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    match fs::symlink_metadata(path)?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::NotADirectory, "there is something else in its place")),
    }
}

#[cfg(test)]
mod tests;
