//! How a kept list is written: numbers in eight bytes, the least of them first, and texts with their length in front.

use super::kept::{FileState, KeptClaims};
use super::listing::{Claimed, ListedFile, Listing};
use super::objects::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Other bytes in another version of the format.
const FORMAT: &[u8] = b"countersign room 1\n";
const STATE_NUMBERS: usize = 6;

/// All but the files of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) made_ns: i64,
    pub(super) top: Vec<u8>,
    pub(super) prefix: Vec<u8>,
    pub(super) base: String,
    pub(super) ignored: BTreeSet<Vec<u8>>,
    pub(super) claims: Option<KeptClaims>,
}

/// `same` has states that the listing does not have yet.
pub(super) fn encode(head: &Head, listing: &Listing, same: &BTreeMap<Vec<u8>, FileState>) -> Vec<u8> {
    let mut out = Out(FORMAT.to_vec());
    out.signed(head.made_ns);
    out.bytes(&head.top);
    out.bytes(&head.prefix);
    out.bytes(head.base.as_bytes());
    out.list(&head.ignored, |out, path| out.bytes(path));
    out.list(head.claims.iter().collect::<Vec<_>>(), |out, claims| {
        out.bytes(claims.head.as_bytes());
        out.bytes(claims.index.as_bytes());
        out.list(&claims.claimed.files, |out, path| out.bytes(path));
        out.list(&claims.claimed.pointers, |out, (path, id)| out.pair(path, id));
    });
    out.number(listing.letters as u64);
    out.list(&listing.trees, |out, (path, id)| out.pair(path, id));
    out.list(&listing.pointers, |out, (path, id)| out.pair(path, id));
    out.list(&listing.files, |out, (path, file)| {
        out.bytes(path);
        out.bytes(file.mode.as_bytes());
        out.bytes(file.id.as_bytes());
        out.list(same.get(path).or(file.state.as_ref()), |out, state| out.state(state));
    });
    out.0
}

/// None where it is not exactly what `encode` writes. The files have no sources.
pub(super) fn decode(bytes: &[u8]) -> Option<(Head, Listing)> {
    let mut from = In(bytes.strip_prefix(FORMAT)?);
    let head = Head {
        made_ns: from.signed()?,
        top: from.bytes()?.to_vec(),
        prefix: from.bytes()?.to_vec(),
        base: from.text()?,
        ignored: from.list(|from| Some(from.bytes()?.to_vec()))?.into_iter().collect(),
        claims: from.list(claims)?.pop(),
    };
    let letters = usize::try_from(from.number()?).ok()?;
    let trees: HashMap<_, _> = from.list(In::pair)?.into_iter().collect();
    let pointers: BTreeMap<_, _> = from.list(In::pair)?.into_iter().collect();
    let files: BTreeMap<_, _> = from.list(file)?.into_iter().collect();
    let listing = Listing { files, trees, pointers, letters, ..Listing::default() };
    from.0.is_empty().then(|| (head, listing.with_folders()))
}

fn claims(from: &mut In<'_>) -> Option<KeptClaims> {
    let (head, index) = (from.text()?, from.text()?);
    let files = from.list(|from| Some(from.bytes()?.to_vec()))?.into_iter().collect();
    let pointers = from.list(In::pair)?.into_iter().collect();
    Some(KeptClaims { head, index, claimed: Claimed { files, pointers } })
}

fn file(from: &mut In<'_>) -> Option<(Vec<u8>, ListedFile)> {
    let path = from.bytes()?.to_vec();
    let mode = super::listing::mode(std::str::from_utf8(from.bytes()?).ok()?)?;
    let id = Id::from_bytes(from.bytes()?)?;
    let state = from.list(In::state)?.pop();
    Some((path, ListedFile { mode, id, source: 0, state }))
}

struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn signed(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn pair(&mut self, path: &[u8], id: &str) {
        self.bytes(path);
        self.bytes(id.as_bytes());
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut put: impl FnMut(&mut Self, T)) {
        let at = self.0.len();
        self.number(0);
        let mut count = 0_u64;
        for item in items {
            put(self, item);
            count += 1;
        }
        self.0[at..at + size_of::<u64>()].copy_from_slice(&count.to_le_bytes());
    }

    fn state(&mut self, state: &FileState) {
        let FileState { device, inode, size, mode, edited_ns, changed_ns } = *state;
        for number in [device, inode, size, mode.into()] {
            self.number(number);
        }
        self.signed(edited_ns);
        self.signed(changed_ns);
    }
}

struct In<'b>(&'b [u8]);

impl<'b> In<'b> {
    fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(size_of::<u64>())?.try_into().ok()?))
    }

    fn signed(&mut self) -> Option<i64> {
        Some(self.number()?.cast_signed())
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let n = usize::try_from(self.number()?).ok()?;
        self.take(n)
    }

    fn text(&mut self) -> Option<String> {
        Some(std::str::from_utf8(self.bytes()?).ok()?.to_owned())
    }

    fn pair(&mut self) -> Option<(Vec<u8>, String)> {
        Some((self.bytes()?.to_vec(), self.text()?))
    }

    /// A count that the bytes cannot hold ends where they end.
    fn list<T>(&mut self, mut get: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| get(self)).collect()
    }

    fn state(&mut self) -> Option<FileState> {
        let numbers: [u64; STATE_NUMBERS] =
            (0..STATE_NUMBERS).map(|_| self.number()).collect::<Option<Vec<_>>>()?.try_into().ok()?;
        let [device, inode, size, mode, edited, changed] = numbers;
        let mode = u32::try_from(mode).ok()?;
        let (edited_ns, changed_ns) = (edited.cast_signed(), changed.cast_signed());
        Some(FileState { device, inode, size, mode, edited_ns, changed_ns })
    }
}
