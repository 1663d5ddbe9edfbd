//! Digests and keys: what a verdict is tied to.
//!
//! A [`Digest`] names exact bytes. A [`Key`] names everything a reviewer could see and was asked; a ruling
//! stands for as long as its key does. Both are blake3, over parts that are length-prefixed, so that
//! `{"xy", "z"}` and `{"x", "yz"}` can never meet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The blake3 digest of exact bytes, as 64 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Digest(String);

/// The blake3 digest of a question: criteria, guidance, notes, reviewer, files, context.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Key(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(blake3::hash(bytes))
    }

    /// For readers that hash a stream piece by piece.
    pub fn from_hash(hash: blake3::Hash) -> Self {
        Self(hash.to_hex().to_string())
    }

    /// The 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 hex digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl Key {
    /// The 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Key {
    fn from(hex: String) -> Self {
        Self(hex)
    }
}

/// Hashes a sequence of parts so that no two different sequences give the same digest.
///
/// Every part carries its own length, and a list carries its count.
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

    /// Adds text with its length in front.
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

    /// The digest of all parts so far.
    pub fn digest(&self) -> Digest {
        Digest::from_hash(self.0.finalize())
    }

    /// The key made of all parts so far.
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
