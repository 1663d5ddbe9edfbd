//! Wraps foreign text into rows of a screen: control characters shown, tabs expanded, no row too wide. Pure.

use countersign_core::text::visible;
use unicode_width::UnicodeWidthChar;

const TAB_COLUMNS: usize = 4;

pub fn rows(text: &str, columns: usize) -> Vec<String> {
    let text = visible(text);
    text.lines().flat_map(|line| row(line, columns.max(1))).collect()
}

/// The beginning of a text on one row, with `…` where there is more.
pub fn head(text: &str, columns: usize) -> String {
    let line = countersign_core::text::visible_line(text);
    let width = |c: char| c.width().unwrap_or(0);
    if line.chars().map(width).sum::<usize>() <= columns {
        return line.into_owned();
    }
    let mut room = columns.saturating_sub(1);
    let fits = |c: &char| {
        let fits = width(*c) <= room;
        room = room.saturating_sub(width(*c));
        fits
    };
    let mut head: String = line.chars().take_while(fits).collect();
    head.push('…');
    head
}

/// The rows of one line: broken behind a space where there is one in the second half.
fn row(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![];
    let mut current = String::new();
    let mut width = 0;
    // Where the last space ends: in bytes, and in columns.
    let mut space = (0, 0);
    for c in line.chars() {
        let text = if c == '\t' { " ".repeat(TAB_COLUMNS - width % TAB_COLUMNS) } else { c.to_string() };
        let columns_more = if c == '\t' { text.len() } else { c.width().unwrap_or(0) };
        if width + columns_more > columns && !current.is_empty() {
            let rest = if space.1 * 2 > columns { current.split_off(space.0) } else { String::new() };
            width = if rest.is_empty() { 0 } else { width - space.1 };
            rows.push(std::mem::replace(&mut current, rest));
            space = (0, 0);
        }
        // A character wider than a whole row is left out.
        if width + columns_more > columns {
            continue;
        }
        current.push_str(&text);
        width += columns_more;
        if c == ' ' || c == '\t' {
            space = (current.len(), width);
        }
    }
    rows.push(current);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_fit_and_break_at_spaces() {
        assert_eq!(rows("one two three", 9), ["one two ", "three"]);
        assert_eq!(rows("abcdefghij\n\nk", 4), ["abcd", "efgh", "ij", "", "k"]);
        assert_eq!(rows("a\tb", 80), ["a   b"]);
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("\u{1b}[2Jx", 80), ["\\u{1b}[2Jx"]);
        assert_eq!(head("one\ntwo three", 9), "one two …");
        assert_eq!(head("short", 8), "short");
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_screen(text in "\\PC{0,60}", columns in 1..20usize) {
            for row in rows(&text, columns) {
                prop_assert!(row.chars().filter_map(UnicodeWidthChar::width).sum::<usize>() <= columns);
            }
            prop_assert!(head(&text, columns).chars().filter_map(UnicodeWidthChar::width).sum::<usize>() <= columns);
        }
    }
}
