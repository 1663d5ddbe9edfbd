//! Names of things: reviews, calls, findings, tokens, subjects.
//!
//! Random letters come from outside; this file only knows what an id looks like.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many random letters an id carries.
pub const ID_LETTERS: usize = 12;
/// The alphabet of ids: base32 without letters that read alike.
pub const ID_ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstvwxyz0123456789";

/// Turns random bytes into the letters of an id.
pub fn letters(random: [u8; ID_LETTERS]) -> String {
    random.iter().map(|byte| char::from(ID_ALPHABET[usize::from(byte % 32)])).collect()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(inline)]
        pub struct $name(String);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A new id from random bytes.
            pub fn new(random: [u8; ID_LETTERS]) -> Self {
                Self(format!("{}{}", $prefix, letters(random)))
            }

            /// An id that was stored or typed.
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// One review: one loop on one subject.
    ReviewId,
    "rv-"
);
id!(
    /// One question to one reviewer.
    CallId,
    "ca-"
);
id!(
    /// A one-time token of a self-review.
    Token,
    "sr-"
);

/// What stays the same over retries: `door/part/part`, each part percent-encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Subject(String);

impl Subject {
    /// Builds a subject from its door and parts.
    pub fn new<'a>(door: &str, parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = encode(door);
        for part in parts {
            text.push('/');
            text.push_str(&encode(part));
        }
        Self(text)
    }

    /// A subject that was stored.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The subject as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the first slash.
    pub fn door(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Percent-encodes everything but letters, digits and `-._~`.
fn encode(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_cannot_pose_as_two() {
        assert_ne!(Subject::new("cli", ["a/b"]), Subject::new("cli", ["a", "b"]));
        assert_eq!(Subject::new("cli", ["a/b ü"]).as_str(), "cli/a%2Fb%20%C3%BC");
        assert_eq!(Subject::new("cli", ["x"]).door(), "cli");
    }

    #[test]
    fn ids_have_a_kind_and_twelve_letters() {
        let id = ReviewId::new([0, 1, 31, 32, 255, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(id.as_str(), "rv-ab9a9hjkmnpq");
    }
}
