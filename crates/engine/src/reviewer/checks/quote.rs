//! Showing a piece of a reviewed file: short, on one line, and nothing that acts on a terminal or hides.

use countersign_core::text::hides;

pub(super) const MAX_QUOTE_CHARS: usize = 80;

/// The words of a parser are cut here: they may quote the text too, after some words of their own.
const MAX_REASON_CHARS: usize = 100;

/// What a parser says is wrong, as far as it can be shown.
pub(super) fn reason(said: &str) -> String {
    visible(said, MAX_REASON_CHARS)
}

/// The text between backticks, cut to [`MAX_QUOTE_CHARS`].
pub(super) fn quote(text: &str) -> String {
    format!("`{}`", visible(text.trim(), MAX_QUOTE_CHARS).replace('`', "'"))
}

/// The text on one line, with control and hiding characters written out, cut to `max_chars`.
pub(super) fn visible(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut used_chars = 0;
    for (offset, c) in text.char_indices() {
        let piece = visible_char(c);
        used_chars += piece.chars().count();
        // Unless the text ends right here, one place is kept for the mark of the cut.
        let is_last = offset + c.len_utf8() == text.len();
        if used_chars > max_chars || (used_chars == max_chars && !is_last) {
            shown.push('…');
            break;
        }
        shown.push_str(&piece);
    }
    shown
}

fn visible_char(c: char) -> String {
    match c {
        '\n' | '\r' | '\t' => " ".into(),
        _ if hides(c) => c.escape_unicode().to_string(),
        _ => c.into(),
    }
}

/// Counts lines while it walks through a text. Ascending offsets cost one walk in all; an earlier one starts again.
pub(super) struct Lines<'t> {
    bytes: &'t [u8],
    offset: usize,
    line: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), offset: 0, line: 1 }
    }

    /// The number, from 1, of the line that holds the byte.
    pub(super) fn line_of(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.bytes.len());
        if offset < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let passed = self.bytes.get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_harmless() {
        for (text, shown) in [
            ("TODO", "`TODO`"),
            ("", "``"),
            (" a\tb\r\nc ", "`a b  c`"),
            ("a`b", "`a'b`"),
            ("\u{1b}[31m", "`\\u{1b}[31m`"),
            ("a\u{202e}b", "`a\\u{202e}b`"),
        ] {
            assert_eq!(quote(text), shown);
        }
    }

    #[test]
    fn the_cut_is_marked_and_exact() {
        assert_eq!(visible("abcde", 5), "abcde");
        assert_eq!(visible("abcdef", 5), "abcd…");
        assert_eq!(visible("\u{1b}abcd", 9), "\\u{1b}ab…");
        assert_eq!(visible("ééééé", 5), "ééééé");
        assert_eq!(visible("abcd\u{1b}", 5), "abcd…");
        assert_eq!(visible(&"\u{1b}".repeat(1000), 80).chars().count(), 79);
    }

    #[test]
    fn offsets_have_lines() {
        let mut lines = Lines::new("a\nb\r\n\nd");
        for (offset, line) in [(0, 1), (1, 1), (2, 2), (5, 3), (6, 4), (99, 4), (2, 2)] {
            assert_eq!(lines.line_of(offset), line, "{offset}");
        }
    }
}
