//! What is in a kept file: one line that says what it is, then the compressed text.

use super::{FILE_BYTES_MAX, Judged};
use countersign_core::digest::{Digest, Parts};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

const FORM: &str = "countersign/contents/1";
/// The line with its two digests and words.
const LINE_BYTES_MAX: u64 = 512;
/// More than a kept file can have: a text that cannot be compressed becomes a little longer.
pub(super) const BYTES_MAX: u64 = LINE_BYTES_MAX + FILE_BYTES_MAX + FILE_BYTES_MAX / 8;
/// Fast, and most of what can be gained.
const LEVEL: u8 = 1;
/// The text is exactly the bytes that the digest names.
const EXACT: &str = "exact";
/// Secrets were replaced, or the text was made of the bytes in another way.
const MADE: &str = "made";

/// A kept file whose first line was read.
pub(super) struct Sealed<'b> {
    kind: &'b str,
    redaction: &'b str,
    seal: &'b str,
    compressed: &'b [u8],
}

pub(super) fn seal(judged: &Judged<'_>) -> Vec<u8> {
    let Judged { digest, text, redaction } = judged;
    let kind = if Digest::of(text.as_bytes()) == **digest { EXACT } else { MADE };
    let seal = seal_of(digest, kind, redaction, text);
    let mut bytes = format!("{FORM} {kind} {redaction} {seal}\n").into_bytes();
    bytes.extend(compress_to_vec(text.as_bytes(), LEVEL));
    bytes
}

/// Covers everything: a file that was moved to another name does not fit either.
fn seal_of(digest: &Digest, kind: &str, redaction: &str, text: &str) -> Digest {
    Parts::new(FORM).text(digest.as_str()).text(kind).text(redaction).text(text).digest()
}

impl<'b> Sealed<'b> {
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, compressed) = (bytes.get(..end)?, bytes.get(end + 1..)?);
        let words: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
        match words.as_slice() {
            [FORM, kind @ (EXACT | MADE), redaction, seal] => {
                Some(Self { kind, redaction, seal, compressed })
            }
            _ => None,
        }
    }

    pub fn is_of(&self, redaction: &str) -> bool {
        self.redaction == redaction
    }

    /// The text, if it is what was written for this digest.
    pub fn open(&self, digest: &Digest) -> Option<String> {
        let most = usize::try_from(FILE_BYTES_MAX).ok()?;
        let bytes = decompress_to_vec_with_limit(self.compressed, most).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let is_sealed = seal_of(digest, self.kind, self.redaction, &text).as_str() == self.seal;
        let is_exact = self.kind != EXACT || Digest::of(text.as_bytes()) == *digest;
        (is_sealed && is_exact).then_some(text)
    }
}
