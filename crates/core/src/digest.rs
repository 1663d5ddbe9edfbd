//! Digests and keys: what a verdict is tied to.
//!
//! A [`Digest`] names exact bytes. A [`Key`] names everything a reviewer could see and was asked; a ruling stands while its
//! key stays the same. Both are blake3 over length-prefixed parts, so `{"xy", "z"}` and `{"x", "yz"}` differ.

use crate::ids::text_type;

text_type!(
    /// The blake3 digest of exact bytes, as 64 hex digits.
    Digest
);
text_type!(
    /// The blake3 digest of a question: criteria, guidance, notes, reviewer, files, context.
    Key
);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(blake3::hash(bytes))
    }

    /// For readers that hash a stream piece by piece.
    pub fn from_hash(hash: blake3::Hash) -> Self {
        Self(hash.to_hex().to_string())
    }

    /// The first 12 hex digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl From<String> for Key {
    fn from(hex: String) -> Self {
        Self(hex)
    }
}

/// Hashes a sequence of parts: every part carries its length and a list its count, so different sequences differ.
#[derive(Default)]
pub struct Parts(blake3::Hasher);

impl Parts {
    /// Starts with the name of what is hashed, so that different kinds of digests never meet.
    pub fn new(domain: &str) -> Self {
        let mut parts = Self::default();
        parts.text(domain);
        parts
    }

    /// Adds bytes with their length in front.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.count(bytes.len());
        self.0.update(bytes);
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds an optional text; "absent" differs from "empty".
    pub fn maybe(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            None => self.count(0),
            Some(text) => self.count(1).text(text),
        }
    }

    /// Adds a number, such as the count of a list that follows.
    pub fn count(&mut self, n: usize) -> &mut Self {
        self.0.update(&(n as u64).to_le_bytes());
        self
    }

    pub fn digest(&self) -> Digest {
        Digest::from_hash(self.0.finalize())
    }

    pub fn key(&self) -> Key {
        Key(self.digest().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str]) -> Key {
        let mut hash = Parts::new("test");
        for part in parts {
            hash.text(part);
        }
        hash.key()
    }

    #[test]
    fn parts_never_run_into_each_other() {
        assert_ne!(key(&["xy", "z"]), key(&["x", "yz"]));
        assert_ne!(key(&["", "a"]), key(&["a", ""]));
        assert_ne!(key(&["a"]), key(&["a", ""]));
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
    }

    #[test]
    fn absent_is_not_empty() {
        let absent = Parts::new("t").maybe(None).key();
        let empty = Parts::new("t").maybe(Some("")).key();
        assert_ne!(absent, empty);
    }
}
