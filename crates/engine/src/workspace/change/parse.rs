//! Parses the output of `git diff-index` piece by piece: a list of files, then their patches.
//! `--raw -p -z` gives `:MODES IDS STATUS` and names, each ended by a zero byte, an empty one, then the patches in
//! the same order. Names in patches are quoted, and every line of contents has a sign in front, so nothing that
//! is judged can begin a line with `diff --git`. If the two lists do not match, there is no change to judge.

use super::{ChangeLimits, ChangedFile, FileKind, Shape};
use countersign_core::digest::{Digest, Parts};
use countersign_core::submission::Content;

const HEADER: &[u8] = b"diff --git ";
pub(super) const NAME_IS_NO_TEXT: &str = "its name is not valid UTF-8";

/// Why what git says cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    TooManyFiles,
    Unexpected(String),
}

#[derive(Clone, Debug)]
struct Record {
    head: String,
    old_name: Option<Vec<u8>>,
    name: Vec<u8>,
}

#[derive(Default)]
struct Patch {
    kept: Vec<u8>,
    bytes: u64,
    hasher: blake3::Hasher,
    first_hunk: Option<usize>,
    in_hunk: bool,
    has_zero: bool,
    added: u64,
    removed: u64,
    sections: usize,
}

#[derive(Default)]
pub(super) struct Parser {
    limits: ChangeLimits,
    /// What is not decided yet: a name that has not ended, or the beginning of a line.
    rest: Vec<u8>,
    head: Option<String>,
    old_name: Option<Vec<u8>>,
    records: Vec<Record>,
    in_patches: bool,
    at_line_start: bool,
    patches: Vec<Patch>,
    kept_bytes: usize,
}

impl Parser {
    pub fn new(limits: ChangeLimits) -> Self {
        Self { limits, at_line_start: true, ..Self::default() }
    }

    pub fn feed(&mut self, piece: &[u8]) -> Result<(), Defect> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(piece);
        let mut bytes = bytes.as_slice();
        while !self.in_patches {
            let Some(end) = bytes.iter().position(|byte| *byte == 0) else {
                self.rest = bytes.to_vec();
                return Ok(());
            };
            self.token(&bytes[..end])?;
            bytes = &bytes[end + 1..];
        }
        self.patch_bytes(bytes, false)
    }

    fn token(&mut self, token: &[u8]) -> Result<(), Defect> {
        let unexpected = || Defect::Unexpected(String::from_utf8_lossy(token).into_owned());
        match self.head.take() {
            None if token.is_empty() => self.in_patches = true,
            None => {
                let head = std::str::from_utf8(token).ok().filter(|head| head.starts_with(':'));
                self.head = Some(head.ok_or_else(unexpected)?.to_owned());
            }
            Some(_) if token.is_empty() => return Err(unexpected()),
            Some(head) => {
                let renames = head.rsplit(' ').next().is_some_and(|status| status.starts_with(['R', 'C']));
                if renames && self.old_name.is_none() {
                    self.old_name = Some(token.to_vec());
                    self.head = Some(head);
                    return Ok(());
                }
                if self.records.len() == self.limits.files_max {
                    return Err(Defect::TooManyFiles);
                }
                let old_name = self.old_name.take();
                self.records.push(Record { head, old_name, name: token.to_vec() });
            }
        }
        Ok(())
    }

    fn patch_bytes(&mut self, mut bytes: &[u8], is_end: bool) -> Result<(), Defect> {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
            if self.at_line_start {
                // As much as it takes to tell what the line is.
                if end.is_none() && bytes.len() < HEADER.len() && !is_end {
                    self.rest = bytes.to_vec();
                    return Ok(());
                }
                self.line_begins(bytes)?;
            }
            let (now, later) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.keep(now)?;
            self.at_line_start = end.is_some();
            bytes = later;
        }
        Ok(())
    }

    fn line_begins(&mut self, line: &[u8]) -> Result<(), Defect> {
        if line.starts_with(HEADER) {
            // The second section of a change of type belongs to the same patch.
            let open = self.patches.last().zip(self.records.get(self.patches.len().wrapping_sub(1)));
            if open.is_none_or(|(patch, record)| patch.sections >= record.sections()) {
                self.patches.push(Patch::default());
            }
        }
        let Some(patch) = self.patches.last_mut() else {
            return Err(Defect::Unexpected("a patch without a header".to_owned()));
        };
        if line.starts_with(HEADER) {
            patch.sections += 1;
            patch.in_hunk = false;
        } else if line.starts_with(b"@@") {
            patch.in_hunk = true;
            patch.first_hunk.get_or_insert(usize::try_from(patch.bytes).unwrap_or(usize::MAX));
        }
        patch.added += u64::from(patch.in_hunk && line[0] == b'+');
        patch.removed += u64::from(patch.in_hunk && line[0] == b'-');
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        let limits = self.limits;
        let Some(patch) = self.patches.last_mut() else {
            return Err(Defect::Unexpected("a patch without a header".to_owned()));
        };
        patch.hasher.update(bytes);
        patch.bytes += bytes.len() as u64;
        patch.has_zero |= bytes.contains(&0);
        let room = limits.patch_bytes_max.saturating_sub(patch.kept.len());
        let room = room.min(limits.kept_bytes_max.saturating_sub(self.kept_bytes)).min(bytes.len());
        // Once something is left out, nothing after it is kept.
        if patch.kept.len() as u64 + bytes.len() as u64 == patch.bytes {
            patch.kept.extend_from_slice(&bytes[..room]);
            self.kept_bytes += room;
        }
        Ok(())
    }

    /// The files and the digest of their list, if everything belongs together; `patches` is false where there are none.
    pub fn finish(mut self, patches: bool) -> Result<(Vec<ChangedFile>, Digest), Defect> {
        let rest = std::mem::take(&mut self.rest);
        if self.in_patches {
            self.patch_bytes(&rest, true)?;
        } else if !rest.is_empty() {
            return Err(Defect::Unexpected("it ends in the middle of a name".to_owned()));
        }
        if self.head.is_some() {
            return Err(Defect::Unexpected("it ends before a name".to_owned()));
        }
        if !patches {
            let absent = |record: &Record| Patch { sections: record.sections(), ..Patch::default() };
            self.patches = self.records.iter().map(absent).collect();
        }
        let whole =
            self.records.iter().zip(&self.patches).all(|(record, patch)| patch.sections == record.sections());
        if self.records.len() != self.patches.len() || !whole {
            let (files, patches) = (self.records.len(), self.patches.len());
            return Err(Defect::Unexpected(format!("{files} files and {patches} patches")));
        }
        let list = list_digest(&self.records);
        let files = self.records.into_iter().zip(self.patches).map(|(record, patch)| record.file(patch));
        Ok((files.collect::<Result<_, _>>()?, list))
    }
}

fn list_digest(records: &[Record]) -> Digest {
    let mut parts = Parts::new("change/1");
    parts.count(records.len());
    for record in records {
        parts.text(&record.head).bytes(record.old_name.as_deref().unwrap_or_default()).bytes(&record.name);
    }
    parts.digest()
}

impl Record {
    /// How many patches git writes for it: a change of type is a removal and an addition.
    fn sections(&self) -> usize {
        if self.head.ends_with(" T") { 2 } else { 1 }
    }

    fn file(self, patch: Patch) -> Result<ChangedFile, Defect> {
        let unexpected = || Defect::Unexpected(self.head.clone());
        let fields: Vec<&str> = self.head.trim_start_matches(':').split(' ').collect();
        let [old_mode, mode, old_id, id, status] = fields[..] else { return Err(unexpected()) };
        let kind = match status.as_bytes().first() {
            Some(b'A') => FileKind::Added,
            Some(b'D') => FileKind::Deleted,
            Some(b'R') => FileKind::Renamed,
            Some(b'T') => FileKind::TypeChanged,
            Some(b'M') if old_id == id && old_mode != mode => FileKind::ModeChanged,
            Some(b'M') => FileKind::Modified,
            _ => return Err(unexpected()),
        };
        let shape = match mode {
            "000000" => Shape::Nothing,
            "120000" => Shape::Link,
            "160000" => Shape::Submodule,
            _ => Shape::File,
        };
        let digest = Parts::new("changed-file/1")
            .text(&self.head)
            .bytes(self.old_name.as_deref().unwrap_or_default())
            .bytes(&self.name)
            .text(Digest::from_hash(patch.hasher.finalize()).as_str())
            .digest();
        let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let (text, is_cut, is_binary) = patch.text();
        let is_named_exactly = std::str::from_utf8(&self.name).is_ok();
        let content = match kind {
            _ if !is_named_exactly => Content::Unreadable(NAME_IS_NO_TEXT.to_owned()),
            FileKind::Deleted if !is_cut => Content::Text,
            _ if is_binary => Content::Binary,
            _ if is_cut => Content::Cut,
            _ => Content::Text,
        };
        let may_be_wide = is_binary && shape == Shape::File && patch.has_byte_order_mark();
        Ok(ChangedFile {
            path: shown(&self.name),
            is_named_exactly,
            old_path: self.old_name.as_deref().map(shown),
            kind,
            shape,
            patch: text,
            is_cut,
            is_binary,
            content,
            wide: may_be_wide.then(|| id.to_owned()),
            patch_bytes: patch.bytes,
            digest,
            added: patch.added,
            removed: patch.removed,
        })
    }
}

impl Patch {
    /// What is shown, whether something is missing that a reader must see, and whether it is no text.
    fn text(&self) -> (String, bool, bool) {
        // A zero byte in text hides nothing: it is shown like other control characters.
        if self.has_zero && !is_text(&self.kept) {
            let head = &self.kept[..self.first_hunk.unwrap_or(0).min(self.kept.len())];
            let head = String::from_utf8_lossy(head);
            return (format!("{head}[binary: contents not shown]\n"), false, true);
        }
        let is_cut = (self.kept.len() as u64) < self.bytes;
        // At a whole line: half a line may be half a secret, which nothing recognises any more.
        let end = match is_cut {
            true => self.kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1),
            false => self.kept.len(),
        };
        let kept = &self.kept[..end];
        let mut text = escaped(kept);
        if text.len() > kept.len() {
            text.push_str("[not UTF-8: other bytes are written as \\x and two digits]\n");
        }
        if is_cut {
            text.push_str(&format!("[diff cut: {end} of {} bytes shown]\n", self.bytes));
        }
        (text, is_cut, false)
    }

    /// Whether an added line begins with the mark of UTF-16.
    fn has_byte_order_mark(&self) -> bool {
        self.kept.windows(4).any(|at| matches!(at, b"\n+\xff\xfe" | b"\n+\xfe\xff"))
    }
}

/// Text as it is, with every other byte written out, so that nothing is hidden.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// Whether bytes are UTF-8, perhaps cut in the middle of a letter.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests;
