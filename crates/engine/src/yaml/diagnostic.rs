//! What is wrong with a file, as data. The binary draws it; nothing here prints.

use super::source::Place;
use countersign_core::text::hides;
use std::fmt;

/// More problems than this are counted, not listed.
pub const MAX_PROBLEMS: usize = 50;

const MAX_QUOTED_CHARS: usize = 60;

/// Of more names than this, the others are neither compared nor listed.
const MAX_KNOWN: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A short stable word for programs.
    pub code: &'static str,
    pub message: String,
    pub place: Place,
    /// Another place that belongs to it, such as the first of two equal names.
    pub related: Option<Box<Related>>,
    pub hint: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub place: Place,
    pub label: String,
}

impl Diagnostic {
    pub fn new(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place, related: None, hint: None }
    }

    /// Whether there is a line to show: a file that is empty, or cannot be read, has none.
    pub fn has_line(&self) -> bool {
        !self.place.source().is_empty()
    }

    /// The message with its place: `file:line:column: message`, or `file: message` where there is no line.
    pub fn words(&self) -> String {
        let Self { message, place, .. } = self;
        let file = place.file().display().to_string();
        match self.has_line() {
            true => format!("{file}:{}:{}: {message}", place.line(), place.column()),
            // The message of an unreadable file names it.
            false if message.contains(&file) => message.clone(),
            false => format!("{file}: {message}"),
        }
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn with_related(self, place: Place, label: impl Into<String>) -> Self {
        Self { related: Some(Box::new(Related { place, label: label.into() })), ..self }
    }
}

/// The message with its place, then the hint on its own line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())?;
        self.hint.iter().try_for_each(|hint| write!(f, "\n  {hint}"))
    }
}

/// Everything that is wrong, in the order of the files: at least one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The first [`MAX_PROBLEMS`].
    pub listed: Vec<Diagnostic>,
    pub left_out: usize,
}

impl Problems {
    /// Nothing if nothing is wrong; otherwise the problems, sorted by place within each file.
    pub fn of(all: Vec<Diagnostic>) -> Option<Self> {
        Self::together([Self { listed: all, left_out: 0 }])
    }

    /// What is wrong with several files, sorted likewise.
    pub fn together(several: impl IntoIterator<Item = Self>) -> Option<Self> {
        let (mut all, mut left_out) = (Vec::new(), 0);
        for one in several {
            all.extend(one.listed);
            left_out += one.left_out;
        }
        let order = |one: &Diagnostic| (one.place.file().to_owned(), one.place.span().start);
        all.sort_by_cached_key(order);
        // A value that is used twice through an alias is one problem.
        all.dedup();
        left_out += all.len().saturating_sub(MAX_PROBLEMS);
        all.truncate(MAX_PROBLEMS);
        (!all.is_empty()).then_some(Self { listed: all, left_out })
    }
}

impl From<Diagnostic> for Problems {
    fn from(one: Diagnostic) -> Self {
        Self { listed: vec![one], left_out: 0 }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.listed.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))?;
        match self.left_out {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// Text from a file inside a message: in backticks, short, and unable to act on a terminal.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", visible(text.get(..end).unwrap_or_default())),
        None => format!("`{}`", visible(text)),
    }
}

/// Text with everything in it that would act rather than be seen spelled out.
pub fn visible(text: &str) -> String {
    let visible = |c: char| if hides(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(visible).collect()
}

/// A list for a sentence: `` `a`, `b`, `c` ``.
pub fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The known name that is meant, if one is close enough to be a typo.
pub fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Comparing is quadratic in the length, and nothing this long is a misspelling of ours.
    if name.len() > 4 * MAX_QUOTED_CHARS {
        return None;
    }
    let name = name.to_lowercase();
    let distances =
        known.into_iter().map(|known| (strsim::damerau_levenshtein(&name, &known.to_lowercase()), known));
    let near = |&(distance, known): &(usize, &str)| distance <= known.chars().count().max(3) / 3;
    distances.filter(near).min_by_key(|&(distance, _)| distance).map(|(_, known)| known)
}

/// A hint for an unknown name: the closest known one, or all known ones.
pub fn did_you_mean(name: &str, known: &[&str], are_known: &str) -> String {
    let compared = known.get(..MAX_KNOWN).unwrap_or(known);
    let more = if known.len() > MAX_KNOWN { ", …" } else { "" };
    match closest(name, compared.iter().copied()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("{are_known}: {}{more}", listed(compared)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_or_none() {
        let known = ["criteria", "name", "for", "each", "TASK-002"];
        for (name, expect) in [
            ("critera", Some("criteria")),
            ("Criteria", Some("criteria")),
            ("fro", Some("for")),
            ("nmae", Some("name")),
            ("task-02", Some("TASK-002")),
            ("elephant", None),
            ("", None),
        ] {
            assert_eq!(closest(name, known), expect, "{name}");
        }
        assert_eq!(closest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn quoted_text_is_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[31m\u{202e}b"), r"`a\u{1b}[31m\u{202e}b`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), MAX_QUOTED_CHARS + 3);
    }
}
