//! The scope of an item: everything, or one named part; and the content of the file that it names.

use countersign_core::digest::Digest;
use countersign_core::text::hides;
use countersign_engine::yaml::{quoted, read_at_most};
use std::fmt;
use std::path::{Path, PathBuf};

const SCOPE_CHARS_MAX: usize = 1000;
/// A larger file has no digest, and the items about it are verified again.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
const WHOLE: &str = "*";

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope(String);

impl Scope {
    pub fn whole() -> Self {
        Self(WHOLE.to_owned())
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        Err(match text.split_once(':') {
            _ if text.trim().is_empty() => "a scope is empty: `*` is everything".to_owned(),
            _ if text.chars().count() > SCOPE_CHARS_MAX => {
                format!("the scope {} has more than {SCOPE_CHARS_MAX} characters", quoted(text))
            }
            _ if text.chars().any(hides) => format!("the scope {} has control characters", quoted(text)),
            Some((_, name)) if name.trim().is_empty() => {
                format!("the scope {} has no name after its colon", quoted(text))
            }
            _ => return Ok(Self(text.to_owned())),
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is everything. Such items are verified one after the other, all others in parallel.
    pub fn is_macro(&self) -> bool {
        self.0 == WHOLE
    }

    /// Whether all artifacts are shown for it, also where it names a part of them that is somewhere inside.
    pub fn shows_everything(&self) -> bool {
        self.is_macro() || matches!(self.part(), Some(("function" | "component", _)))
    }

    /// The kind of the part it names, such as `milestone`, and the part's name.
    pub fn part(&self) -> Option<(&str, &str)> {
        self.0.split_once(':').map(|(kind, name)| (kind.trim(), name.trim()))
    }

    /// The file it names, without lines.
    pub fn file(&self) -> Option<&str> {
        let ("file", rest) = self.part()? else { return None };
        match rest.rsplit_once(':') {
            Some((path, lines)) if !path.is_empty() && read_lines(lines).is_some() => Some(path),
            _ => Some(rest),
        }
    }

    /// The lines it names in its file: first and last, from 1.
    pub fn lines(&self) -> Option<(u32, u32)> {
        let ("file", rest) = self.part()? else { return None };
        read_lines(rest.rsplit_once(':')?.1)
    }

    /// The digest of the whole file it names, as it is now. None where it names no file, or one that cannot be read.
    pub fn file_digest(&self, root: &Path) -> Option<Digest> {
        let bytes = read_at_most(&root.join(self.file()?), FILE_BYTES_MAX).ok()?;
        (bytes.len() <= FILE_BYTES_MAX).then(|| Digest::of(&bytes))
    }

    /// Whether it names one of these files, given relative to the root.
    pub fn names_one_of(&self, root: &Path, files: &[String]) -> bool {
        let plain = |path: &str| -> PathBuf { root.join(path).components().collect() };
        self.file().is_some_and(|named| files.iter().any(|file| plain(file) == plain(named)))
    }
}

/// `45-52`, `L10-L50`, `45`.
fn read_lines(text: &str) -> Option<(u32, u32)> {
    let line =
        |text: &str| text.strip_prefix(['L', 'l']).unwrap_or(text).parse::<u32>().ok().filter(|n| *n > 0);
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (line(first)?, line(last)?),
        None => (line(text)?, line(text)?),
    };
    (first <= last).then_some((first, last))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// QR-6.
    #[test]
    fn qr_6_scopes_are_macro_or_name_a_part() {
        type Row<'a> = (&'a str, bool, Option<&'a str>, Option<(u32, u32)>);
        let rows: [Row<'_>; 12] = [
            ("*", true, None, None),
            ("milestone:M-001", false, None, None),
            ("code_intent:CI-1", false, None, None),
            ("code_change:CC-1", false, None, None),
            ("function:name", false, None, None),
            ("component:name", false, None, None),
            ("file:path", false, Some("path"), None),
            ("file:path:L10-L50", false, Some("path"), Some((10, 50))),
            ("file:a/b.py:45-52", false, Some("a/b.py"), Some((45, 52))),
            ("file:a/b.py:45", false, Some("a/b.py"), Some((45, 45))),
            ("file:odd:name", false, Some("odd:name"), None),
            ("src/lib.rs", false, None, None),
        ];
        for (text, is_macro, file, lines) in rows {
            let scope = Scope::parse(text).unwrap();
            assert_eq!((scope.is_macro(), scope.file(), scope.lines()), (is_macro, file, lines), "{text}");
        }
    }

    #[test]
    fn scopes_that_could_act_are_refused() {
        for text in ["", " ", "milestone:", "file:a\nb", "file:a\u{1b}[2J", "*\u{202e}", &"x".repeat(1001)] {
            assert!(Scope::parse(text).is_err(), "{text:?}");
        }
    }
}
