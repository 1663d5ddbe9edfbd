//! Markdown by lines, for files that are edited by line: which lines are code, headings, list entries. Lists are not
//! followed, so a fence may be indented by any amount. Spans are bytes.

use std::ops::Range;

/// The mark that some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// A closing fence may be indented by this much more than the one it closes; more makes it a line of the code.
const CLOSING_INDENT_MAX: usize = 3;
const FENCE_SIGNS_MIN: usize = 3;
const HEADING_LEVEL_MAX: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// Its number, from 1.
    pub number: usize,
    /// Where it begins in the text.
    pub at: usize,
    /// Its text, without the end of the line.
    pub text: &'t str,
    /// Where the next line begins.
    pub end: usize,
    /// Whether it belongs to a fenced code block; the fences do.
    pub is_code: bool,
}

impl Line<'_> {
    pub fn span(&self, span: Range<usize>) -> Range<usize> {
        self.at + span.start..self.at + span.end
    }

    /// All of the line as a span of the text.
    pub fn whole(&self) -> Range<usize> {
        self.span(0..self.text.len())
    }
}

/// The lines of a text, from a place where a line begins.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    rest: std::str::SplitInclusive<'t, char>,
    number: usize,
    at: usize,
    fence: Option<(Fence, Range<usize>)>,
}

pub fn lines(text: &str) -> Lines<'_> {
    lines_from(text, 0)
}

pub fn lines_from(text: &str, at: usize) -> Lines<'_> {
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let number = before.bytes().filter(|byte| *byte == b'\n').count();
    Lines { rest: rest.split_inclusive('\n'), number, at: before.len(), fence: None }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let whole = self.rest.next()?;
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let at = self.at;
        self.at += whole.len();
        self.number += 1;
        let found = fence(text);
        let is_code = self.fence.is_some() || found.is_some();
        self.fence = match (self.fence.take(), found) {
            (Some((open, _)), Some(found)) if found.closes(open) => None,
            (None, Some(found)) => Some((found, at..at + text.len())),
            (still, _) => still,
        };
        Some(Line { number: self.number, at, text, end: self.at, is_code })
    }
}

impl Lines<'_> {
    /// The line that opens the code block in which the lines so far end.
    pub fn open_fence(self) -> Option<Range<usize>> {
        self.fence.map(|(_, line)| line)
    }
}

/// What a line that opens a fence names behind its signs, such as a language; empty for a bare fence.
pub fn fence_info(line: &str) -> Option<&str> {
    fence(line)?;
    Some(line.trim_start_matches([' ', '\t', '`', '~']).trim())
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    sign: char,
    count: usize,
    indent: usize,
    is_bare: bool,
}

impl Fence {
    fn closes(self, open: Self) -> bool {
        self.sign == open.sign
            && self.count >= open.count
            && self.is_bare
            && self.indent <= open.indent + CLOSING_INDENT_MAX
    }
}

fn fence(line: &str) -> Option<Fence> {
    let inner = line.trim_start_matches([' ', '\t']);
    let sign = inner.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = inner.trim_start_matches(sign);
    let count = inner.len() - rest.len();
    // Backticks with backticks behind them are code within a sentence.
    let is_fence = count >= FENCE_SIGNS_MIN && !(sign == '`' && rest.contains('`'));
    is_fence.then(|| Fence { sign, count, indent: indent(line), is_bare: rest.trim().is_empty() })
}

/// How far a line is indented; a tab counts as four.
pub fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blank.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// The heading that a line without indentation is: how many `#` it has, and where its words are.
pub fn heading(line: &str) -> Option<(usize, Range<usize>)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let is_heading =
        (1..=HEADING_LEVEL_MAX).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, trimmed(line, level..line.len())))
}

/// Where the words of an entry of a list begin, behind its `-`, `*` or `+`.
pub fn entry(line: &str) -> Option<usize> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?;
    rest.starts_with([' ', '\t']).then(|| line.len() - rest.trim_start().len())
}

/// The length of the front matter between lines of `---`; 0 where it is not closed or begins with an empty line.
pub fn front_matter(text: &str) -> usize {
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        end += line.len();
        match (number, line.trim_end()) {
            (0, "---") => {}
            (0, _) | (1, "") => return 0,
            (_, "---" | "...") => return end,
            _ => {}
        }
    }
    0
}

/// A span without the white space at its ends.
pub fn trimmed(line: &str, span: Range<usize>) -> Range<usize> {
    let text = line.get(span.clone()).unwrap_or_default();
    let start = span.start + (text.len() - text.trim_start().len());
    start..(start + text.trim().len())
}

/// The byte order mark a text may begin with, and the rest of it.
pub fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 })
}

/// A text with other words in these spans, which do not overlap.
pub fn replaced<S: AsRef<str>>(text: &str, mut changes: Vec<(Range<usize>, S)>) -> String {
    changes.sort_by_key(|(span, _)| span.start);
    let mut new = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (span, words) in changes {
        new.push_str(text.get(from..span.start).unwrap_or_default());
        new.push_str(words.as_ref());
        from = span.end;
    }
    new.push_str(text.get(from..).unwrap_or_default());
    new
}

#[cfg(test)]
mod tests;
