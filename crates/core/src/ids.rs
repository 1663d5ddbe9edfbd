//! Ids of reviews, calls, tokens and subjects. Random bytes come from outside.

pub const ID_LETTERS: usize = 12;
/// The alphabet of ids: base32 without letters that read alike.
pub const ID_ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstvwxyz0123456789";

/// Turns random bytes into the letters of an id.
pub fn letters(random: [u8; ID_LETTERS]) -> String {
    random.iter().map(|byte| char::from(ID_ALPHABET[usize::from(byte % 32)])).collect()
}

/// A type for texts of one kind, which compares, sorts and serializes as its text.
macro_rules! text_type {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        #[schemars(inline)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_type;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        text_type!(
            $(#[$doc])*
            #[derive(Default)]
            $name
        );

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            pub fn new(random: [u8; ID_LETTERS]) -> Self {
                Self(format!("{}{}", $prefix, letters(random)))
            }

            /// An id that was stored or typed.
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }
        }
    )*};
}

ids! {
    /// One review: one loop on one subject.
    ReviewId = "rv-";
    /// One question to one reviewer.
    CallId = "ca-";
    /// A one-time token of a self-review.
    Token = "sr-";
}

text_type!(
    /// What stays the same over retries: `door/part/part`, each part percent-encoded.
    #[derive(Default)]
    Subject
);

impl Subject {
    pub fn new<'a>(door: &'a str, parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(std::iter::once(door).chain(parts).map(encode).collect::<Vec<_>>().join("/"))
    }

    /// A subject that was stored.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The part before the first slash, without the project.
    pub fn door(&self) -> &str {
        let first = self.0.split('/').next().unwrap_or_default();
        first.rsplit_once(PROJECT_END).map_or(first, |(_, door)| door)
    }

    /// The same subject of a project below the root of its repository, by the path of that project. All projects of a
    /// repository share one ledger.
    pub fn of_project(&self, path: &str) -> Self {
        match path.is_empty() || self.project().is_some() {
            true => self.clone(),
            false => Self(format!("{}{PROJECT_END}{}", encode(path), self.0)),
        }
    }

    /// The path of the project, as it is written in the subject; none at the root of the repository.
    pub fn project(&self) -> Option<&str> {
        Some(self.0.split('/').next()?.rsplit_once(PROJECT_END)?.0)
    }
}

/// Stands after the path of a project. In all other parts it is encoded.
const PROJECT_END: char = ':';

/// Percent-encodes everything but letters, digits and `-._~`.
fn encode(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    part.bytes().map(encode).collect()
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
    fn a_subject_of_a_project_begins_with_its_path() {
        let subject = Subject::new("cli", ["a:b"]);
        let inside = subject.of_project("packages/app");
        assert_eq!(inside.as_str(), "packages%2Fapp:cli/a%3Ab");
        assert_eq!((inside.door(), inside.project()), ("cli", Some("packages%2Fapp")));
        assert_eq!((subject.door(), subject.project()), ("cli", None));
        assert_eq!(inside.of_project("packages/app"), inside);
        assert_eq!(subject.of_project(""), subject);
    }

    #[test]
    fn ids_have_a_kind_and_twelve_letters() {
        let id = ReviewId::new([0, 1, 31, 32, 255, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(id.as_str(), "rv-ab9a9hjkmnpq");
    }
}
