//! The head of a ledger, kept outside of it: how many events this machine has seen in it, and the hash of the last one. A
//! ledger that was cut off, or put back as an older copy, is a whole ledger in itself; only what is kept elsewhere tells.

use super::store::{Lines, Session};
use super::{Ledger, LedgerError, Result};
use crate::private;
use countersign_core::text::counted;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const VERSION: &str = "1";
const HEAD_BYTES_MAX: u64 = 1024;
/// The ending of a file beside a head: that it replaced the head of another ledger.
const ANOTHER: &str = "another";

/// Where the head of a ledger is kept, and which ledger that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadFile {
    path: PathBuf,
    /// Device, inode and birth of the folder that the ledger belongs to: a new clone in the same place has a ledger of its
    /// own.
    place: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    place: String,
    /// The hash of the first event, which all copies of a ledger share.
    first: String,
    seq: u64,
    link: String,
}

/// What a ledger says about the events of its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Present {
    first: Option<String>,
    /// The hash of the event that has the number of the head.
    at_head: Option<String>,
    last: u64,
}

impl HeadFile {
    /// The file for the ledger in `dir`, which belongs to `owner`: the git folder, or the root of the project. None where
    /// that folder cannot be looked at.
    pub fn of(dir: &Path, owner: &Path, heads: &Path) -> Option<Self> {
        let owner = owner.canonicalize().ok()?;
        let found = fs::metadata(&owner).ok()?;
        Some(Self { path: file(&owner, Path::new(dir.file_name()?), heads), place: place(&found) })
    }

    fn read(&self) -> Option<Head> {
        let mut text = String::new();
        File::open(&self.path).ok()?.take(HEAD_BYTES_MAX).read_to_string(&mut text).ok()?;
        parse(&text)
    }

    /// Keeps a head, unless a later one of the same ledger is kept already. Where that is not possible, the older one stays.
    fn write(&self, head: &Head, is_accepted: bool) {
        let write = || -> std::io::Result<()> {
            self.path.parent().map_or(Ok(()), private::make_folders)?;
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.path)?;
            file.lock()?;
            let mut text = String::new();
            Read::by_ref(&mut file).take(HEAD_BYTES_MAX).read_to_string(&mut text)?;
            let is_later = |known: Head| known.first == head.first && known.seq >= head.seq;
            let known = parse(&text);
            if !is_accepted && known.clone().is_some_and(is_later) {
                return Ok(());
            }
            if !is_accepted
                && known.is_some_and(|known| known.place != head.place && known.first != head.first)
            {
                File::create(self.path.with_extension(ANOTHER))?;
            }
            let Head { place, first, seq, link } = head;
            let line = format!("{VERSION} {place} {first} {seq} {link}\n");
            file.seek(SeekFrom::Start(0))?;
            file.write_all(line.as_bytes())?;
            file.set_len(line.len() as u64)
        };
        write().ok();
    }

    /// Refuses to take a ledger that is gone for one that never was.
    pub fn require_none(&self) -> Result<()> {
        match self.read() {
            Some(head) => problem(&head, &self.place, &Present::default()).map_or(Ok(()), Err),
            None => Ok(()),
        }
    }

    /// Whether this machine has seen a ledger in a git folder at this path, and that folder is not there any more: it is gone,
    /// or another one.
    pub fn was_of_another(git: &Path, name: &str, heads: &Path) -> bool {
        let Some((parent, last)) = git.parent().zip(git.file_name()) else { return false };
        let owner = parent.canonicalize().unwrap_or_else(|_| parent.to_owned()).join(last);
        let place = fs::symlink_metadata(&owner).ok().filter(fs::Metadata::is_dir).map(|found| place(&found));
        let kept = Self { path: file(&owner, name, heads), place: place.unwrap_or_default() };
        kept.path.with_extension(ANOTHER).exists() || kept.read().is_some_and(|head| head.place != kept.place)
    }

    /// Forgets the head, because a person says that the ledger here counts.
    pub fn forget(&self) {
        fs::remove_file(&self.path).ok();
    }
}

/// The file for the ledger in a folder of this name, which belongs to `owner`.
fn file(owner: &Path, name: impl AsRef<Path>, heads: &Path) -> PathBuf {
    let name = blake3::hash(owner.join(name).as_os_str().as_encoded_bytes()).to_hex();
    heads.join(&name[..32])
}

/// What tells a folder from another one in its place. A number of an inode is given out again; the time of birth is not, where
/// the file system has it.
fn place(found: &fs::Metadata) -> String {
    let birth = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let birth = birth.map_or(0, |since| since.as_nanos());
    format!("{}:{}:{birth}", found.dev(), found.ino())
}

fn parse(text: &str) -> Option<Head> {
    let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
    let [VERSION, place, first, seq, link] = words[..] else { return None };
    let head = Head { place: place.into(), first: first.into(), seq: seq.parse().ok()?, link: link.into() };
    (head.seq > 0).then_some(head)
}

/// Why a ledger is not the one that the head is of; none where it is.
fn problem(head: &Head, place: &str, present: &Present) -> Option<LedgerError> {
    let seen = format!("this machine has seen {} in it", counted(usize_of(head.seq), "event", "events"));
    let is_copy = present.first.as_ref() == Some(&head.first);
    let words = match (&present.at_head, &present.first) {
        (Some(link), _) if *link == head.link => return None,
        (Some(_), _) if is_copy => format!("the ledger has other events than before: {seen}"),
        (None, _) if is_copy => {
            format!("the ledger is an older one, or its end was removed: {seen}, and it has {}", present.last)
        }
        // Another repository in the same place, such as a new clone.
        _ if head.place != place => return None,
        (_, None) => format!("the ledger is gone: {seen}"),
        (_, Some(_)) => format!("the ledger is another one than before: {seen}"),
    };
    Some(LedgerError::NotTheLatest(words))
}

fn usize_of(seq: u64) -> usize {
    usize::try_from(seq).unwrap_or(usize::MAX)
}

async fn present(session: &mut Session, head: Option<&Head>) -> Result<Present> {
    let first = session.lines(Lines::After(0), 1).await?.pop();
    let last = session.end("").await?.seq;
    let at_head = match head {
        Some(head) => session.lines(Lines::After(head.seq - 1), 1).await?.pop(),
        None => None,
    };
    let at_head = at_head.filter(|line| head.is_some_and(|head| head.seq == line.seq));
    let link = |line: super::entry::Line| hex(&line.chain);
    Ok(Present { first: first.map(link), at_head: at_head.map(link), last })
}

pub(super) fn hex(link: &[u8]) -> String {
    link.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Ledger {
    /// The hash of its last event, as an export has it: it vouches for all events. None in an empty ledger.
    pub async fn last_hash(&self) -> Result<Option<String>> {
        let end = self.read().await?.end("").await?;
        Ok(end.link.map(|link| hex(&link)))
    }

    /// Whether this machine has written the ledger up to the head that is kept of it.
    pub async fn is_known(&self, file: &HeadFile) -> Result<bool> {
        let Some(head) = file.read() else { return Ok(false) };
        let present = present(&mut self.read().await?, Some(&head)).await?;
        let is_same =
            present.first.as_ref() == Some(&head.first) && present.at_head.as_ref() == Some(&head.link);
        Ok(is_same && head.place == file.place)
    }

    /// Compares the ledger with the head that is kept of it, and keeps its head from now on. With `accept` it counts as it
    /// is.
    pub async fn keep_head(&self, file: HeadFile, accept: bool) -> Result<()> {
        let head = file.read().filter(|_| !accept);
        let mut session = self.read().await?;
        let present = present(&mut session, head.as_ref()).await?;
        if let Some(problem) = head.as_ref().and_then(|head| problem(head, &file.place, &present)) {
            return Err(problem);
        }
        let end = session.end("").await?;
        drop(session);
        self.0.head.set(file).ok();
        // A head that is as far as the ledger needs no write.
        if head.is_none_or(|head| head.seq != end.seq)
            && let Some(link) = end.link
        {
            self.note_head(end.seq, &link, present.first.as_deref(), accept);
        }
        Ok(())
    }

    /// Keeps what was committed last.
    pub(super) async fn follow_head(&self, seq: u64, link: &[u8]) {
        if self.0.head.get().is_none() {
            return;
        }
        let first = match self.0.first.get() {
            Some(first) => Some(first.clone()),
            None => match self.read().await {
                Ok(mut session) => present(&mut session, None).await.ok().and_then(|present| present.first),
                Err(_) => None,
            },
        };
        self.note_head(seq, link, first.as_deref(), false);
    }

    fn note_head(&self, seq: u64, link: &[u8], first: Option<&str>, is_accepted: bool) {
        if let (Some(file), Some(first)) = (self.0.head.get(), first) {
            self.0.first.set(first.to_owned()).ok();
            let head = Head { place: file.place.clone(), first: first.to_owned(), seq, link: hex(link) };
            file.write(&head, is_accepted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head { place: "1:2".into(), first: "aa".into(), seq: 5, link: "ee".into() }
    }

    #[test]
    fn a_ledger_is_compared_with_its_head() {
        let present = |first: Option<&str>, at_head: Option<&str>, last| Present {
            first: first.map(str::to_owned),
            at_head: at_head.map(str::to_owned),
            last,
        };
        let (same, other) = ("1:2", "1:9");
        let rows = [
            (present(Some("aa"), Some("ee"), 5), same, None),
            (present(Some("aa"), Some("ee"), 9), same, None),
            (present(Some("aa"), Some("ee"), 9), other, None),
            (present(Some("aa"), None, 4), same, Some("older")),
            // A copy of the folder does not make an older ledger a new one.
            (present(Some("aa"), None, 4), other, Some("older")),
            (present(Some("aa"), Some("ff"), 9), same, Some("other events")),
            (present(Some("aa"), Some("ff"), 9), other, Some("other events")),
            (present(Some("bb"), Some("ff"), 9), same, Some("another one")),
            (present(Some("bb"), None, 2), same, Some("another one")),
            (present(Some("bb"), Some("ff"), 9), other, None),
            (present(None, None, 0), same, Some("gone")),
            (present(None, None, 0), other, None),
        ];
        for (present, place, words) in rows {
            let found = problem(&head(), place, &present).map(|error| error.to_string());
            match words {
                None => assert_eq!(found, None, "{present:?} {place}"),
                Some(words) => assert!(found.unwrap_or_default().contains(words), "{present:?} {place}"),
            }
        }
    }

    #[test]
    fn a_kept_head_only_grows_unless_a_person_accepts() {
        let folder = tempfile::tempdir().unwrap();
        let file = HeadFile { path: folder.path().join("heads/a"), place: "1:2".into() };
        assert_eq!(file.read(), None);
        file.write(&head(), false);
        assert_eq!(file.read(), Some(head()));
        let shorter = Head { seq: 4, link: "dd".into(), ..head() };
        file.write(&shorter, false);
        assert_eq!(file.read(), Some(head()));
        file.write(&shorter, true);
        assert_eq!(file.read(), Some(shorter));
        for text in ["", "1 1:2 aa 5", "1 1:2 aa 0 ee\n", "2 1:2 aa 5 ee\n", "1 1:2 aa x ee\n"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
