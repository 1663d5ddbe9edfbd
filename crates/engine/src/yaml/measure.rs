//! Measures a YAML document without keeping it.
//! Aliases let a small file stand for a huge one. This counts what the tree would hold.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Values in a file, also through aliases.
pub(super) const MAX_NODES: usize = 50_000;
/// Values within values. What is written by hand needs eight.
pub(super) const MAX_DEPTH: usize = 32;
/// Bytes of text, also through aliases.
pub(super) const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

pub(super) const TOO_COMPLEX: &str = "the file is too large when its aliases (`*name`) are expanded";

struct Left {
    nodes: usize,
    text_bytes: usize,
}

pub(super) struct Measure<'l> {
    left: &'l mut Left,
    depth: usize,
}

impl Measure<'_> {
    /// Reads all of a document, or says that it holds too much.
    pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        let mut left = Left { nodes: MAX_NODES, text_bytes: MAX_TEXT_BYTES };
        Measure { left: &mut left, depth: 0 }.deserialize(deserializer)
    }

    fn take_text<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let left = self.left.text_bytes.checked_sub(text.len());
        self.left.text_bytes = left.ok_or_else(|| E::custom(TOO_COMPLEX))?;
        Ok(())
    }

    fn inner(&mut self) -> Measure<'_> {
        Measure { left: &mut *self.left, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Measure<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let nodes = self.left.nodes.checked_sub(1).filter(|_| self.depth <= MAX_DEPTH);
        self.left.nodes = nodes.ok_or_else(|| D::Error::custom(TOO_COMPLEX))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Measure<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i128<E>(self, _: i128) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        self.take_text(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.take_text(&key)?;
            map.next_value_seed(self.inner())?;
        }
        Ok(())
    }
}
