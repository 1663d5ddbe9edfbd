//! Text of others in the formats: steering characters are shown, markup is escaped, long text is cut with a note.

use countersign_core::text::{cut_noted, visible, visible_line};

/// Text of many lines, harmless and not longer than this.
pub fn lines(text: &str, bytes_max: usize) -> String {
    without_noncharacters(&visible(&cut_noted(text.trim(), bytes_max)))
}

/// Text on one line, harmless and not longer than this.
pub fn line(text: &str, bytes_max: usize) -> String {
    let one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    without_noncharacters(&visible_line(&cut_noted(&one, bytes_max)))
}

/// Some readers refuse a report with these, and no text needs them.
fn without_noncharacters(text: &str) -> String {
    text.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

/// Text in XML 1.0, also in attributes.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // What XML cannot have at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                out.push_str(&c.escape_unicode().to_string());
            }
            c => out.push(c),
        }
    }
    out
}

/// Text within a line of Markdown: no markup, no link, no mention of an account, of an issue or of an address.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("<br>"),
            // Shown by the host as they are; the space of no width ends what would be a mention or a link.
            '@' | '#' | ':' => out.extend(['\\', c, '\u{200b}']),
            c if "\\`*_{}[]<>!|~&$^=".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    // Where an address could begin without a scheme.
    out.replace("www.", "www.\u{200b}")
}

/// A name as code in Markdown.
pub fn code(text: &str) -> String {
    let text = visible_line(text).replace('`', "'");
    format!("`{text}`")
}

/// Text as a block of code in Markdown: it can be copied as it is. Its fence is longer than any within.
pub fn block(text: &str) -> String {
    let longest = text.split(|c: char| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n\n{fence}text\n{text}\n{fence}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_no_markup() {
        let table = [
            ("a <b> & \"c\" ]]>", "a &lt;b&gt; &amp; &quot;c&quot; ]]&gt;"),
            ("\u{0}\u{1b}[1m", "\\u{0}\\u{1b}[1m"),
            ("one\ntwo", "one&#10;two"),
        ];
        for (text, escaped) in table {
            assert_eq!(xml(text), escaped);
        }
        let table = [
            ("**b** _i_ `c`", "\\*\\*b\\*\\* \\_i\\_ \\`c\\`"),
            ("<script>", "\\<script\\>"),
            ("@octocat #1", "\\@\u{200b}octocat \\#\u{200b}1"),
            ("https://a.example", "https\\:\u{200b}//a.example"),
            ("www.a.example", "www.\u{200b}a.example"),
            ("one\ntwo", "one<br>two"),
            ("| a |", "\\| a \\|"),
        ];
        for (text, escaped) in table {
            assert_eq!(markdown(text), escaped);
        }
        assert_eq!(code("a`b\nc"), "`a'b c`");
        assert_eq!(block("a\n```\nb"), "\n\n````text\na\n```\nb\n````\n\n");
    }
}
