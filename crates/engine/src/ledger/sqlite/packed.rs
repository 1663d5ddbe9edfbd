//! Long bodies of events, compressed in the file. What is chained and exported is the text itself.

use super::super::LedgerError;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, TypeInfo, ValueRef};

/// Shorter bodies stay text, which people can read with any SQLite program.
const PACKED_FROM_BYTES: usize = 1024;
/// More is no body of ours: a damaged file must not fill the memory.
const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
const LEVEL: u8 = 8;

/// A body as it is written to the file: text, or a compressed blob.
pub(super) enum Body {
    Text(String),
    Packed(Vec<u8>),
}

impl Body {
    pub fn of(text: &str) -> Self {
        if !(PACKED_FROM_BYTES..=BODY_BYTES_MAX).contains(&text.len()) {
            return Self::Text(text.to_owned());
        }
        let packed = compress_to_vec_zlib(text.as_bytes(), LEVEL);
        if packed.len() < text.len() { Self::Packed(packed) } else { Self::Text(text.to_owned()) }
    }
}

/// The text of a body. What cannot be read stands for itself as nothing: the chain says that it was changed.
pub(super) fn text(row: &SqliteRow) -> Result<String, LedgerError> {
    let is_text = row.try_get_raw("body")?.type_info().name() == "TEXT";
    let bytes: Vec<u8> = row.try_get_unchecked("body")?;
    let bytes = match is_text {
        true => bytes,
        false => decompress_to_vec_zlib_with_limit(&bytes, BODY_BYTES_MAX).unwrap_or_default(),
    };
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_becomes_shorter_is_packed() {
        let packed = |text: &str| matches!(Body::of(text), Body::Packed(_));
        assert!(!packed("{}"));
        assert!(!packed(&"a".repeat(PACKED_FROM_BYTES - 1)));
        assert!(packed(&"a".repeat(PACKED_FROM_BYTES)));
    }

    #[test]
    fn damage_is_no_text() {
        for bytes in [b"nothing of ours".to_vec(), compress_to_vec_zlib(b"{}", LEVEL)[..3].to_vec()] {
            assert!(decompress_to_vec_zlib_with_limit(&bytes, BODY_BYTES_MAX).is_err());
        }
    }
}
