//! Redaction: keys, tokens and private keys in a text are replaced by `[redacted: NAME]` and counted.
//!
//! Line numbers hold, a text without secrets stays byte for byte the same, redacting twice is redacting once, and time is
//! linear. It finds what looks like a secret; a password that is a word stays.

mod split;
mod table;
mod value;
mod vendors;

use crate::answer::{Answer, unfence};
use crate::digest::Parts;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Goes up whenever the table changes, so that rulings on what was shown before are not taken for new ones.
const TABLE_VERSION: usize = 2;
/// Memory of a compiled expression; it also bounds the time per byte of a hostile text.
const MAX_REGEX_BYTES: usize = 2 * 1024 * 1024;
/// A replacement may lay bare another one beside it. More than a few times only a made-up text does.
const MAX_PASSES: usize = 8;
/// Names are part of marks, so they are short and plain.
const MAX_NAME_BYTES: usize = 40;

/// What is kept from reviewers, the ledger and reports.
#[derive(Clone)]
pub struct Redaction {
    /// Whether the built-in patterns are looked for.
    is_on: bool,
    own: Arc<Vec<(String, Regex)>>,
    identity: String,
}

/// A built-in pattern says whether what was found is one; all a user's own matches is one.
type IsOne = fn(&str, Option<char>) -> bool;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPattern {
    pub name: String,
    /// The regular expression; all it matches is replaced.
    pub pattern: String,
}

/// How many secrets were replaced, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, usize>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the name of a pattern has small letters, digits and `-`, at most {MAX_NAME_BYTES}")]
    Name,
    #[error("`{0}` is the name of a built-in pattern")]
    BuiltIn(String),
    #[error("the pattern cannot be read: {0}")]
    Expression(String),
    #[error("the pattern matches the empty text, so it would replace everything")]
    Empty,
    /// It matches what it leaves behind.
    #[error("the pattern matches `{0}`, the mark that replaces a secret")]
    Mark(String),
}

impl Redaction {
    pub fn off() -> Self {
        Self { is_on: false, own: Arc::default(), identity: "off".to_owned() }
    }

    /// The built-in patterns alone.
    pub fn standard() -> Self {
        let identity = Parts::new("redaction").count(TABLE_VERSION).count(0).digest().to_string();
        Self { is_on: true, own: Arc::default(), identity }
    }

    /// The built-in patterns, and the user's own.
    pub fn new(own: &[OwnPattern]) -> Result<Self, Problem> {
        let mut patterns = vec![];
        let mut parts = Parts::new("redaction");
        parts.count(TABLE_VERSION).count(own.len());
        for OwnPattern { name, pattern } in own {
            parts.text(name).text(pattern);
            patterns.push((name.clone(), own_regex(name, pattern)?));
        }
        Ok(Self { is_on: true, own: Arc::new(patterns), identity: parts.digest().to_string() })
    }

    /// What makes its replacements its own. Part of every key: other patterns show other texts.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub fn is_off(&self) -> bool {
        !self.is_on
    }

    pub fn redact<'t>(&self, text: &'t str) -> (Cow<'t, str>, Counts) {
        let (mut counts, mut text) = (Counts::default(), Cow::Borrowed(text));
        for _ in 0..MAX_PASSES {
            let found = self.find(&text);
            if found.is_empty() {
                break;
            }
            for (_, pattern) in &found {
                *counts.0.entry(self.name(*pattern).to_owned()).or_default() += 1;
            }
            text = Cow::Owned(self.replace(&text, &found));
        }
        (text, counts)
    }

    /// The text without its secrets, without a count.
    pub fn hide(&self, text: &str) -> String {
        self.redact(text).0.into_owned()
    }

    /// The text with stars for its secrets: every offset in it stays valid.
    pub fn mask(&self, text: &str) -> String {
        self.find(text).into_iter().fold(text.to_owned(), |text, (range, _)| stars(&text, range))
    }

    /// What a pattern is called: those of the table come first.
    fn name(&self, pattern: usize) -> &str {
        match pattern.checked_sub(table::TABLE.len()) {
            None => table::TABLE[pattern].name,
            Some(own) => &self.own[own].0,
        }
    }

    /// Every secret, in order, none overlapping another; of two that do, the one that begins first.
    fn find(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found = vec![];
        let needed = if self.is_on { table::needed(text) } else { vec![] };
        for row in needed {
            let is_one = Some(table::TABLE[row].is_one);
            match table::regex(row) {
                Ok(regex) => find(regex, is_one, text, |range| found.push((range, row))),
                // A test shows that this table compiles. Otherwise the whole text is redacted.
                Err(_) => found.push((0..text.len(), row)),
            }
        }
        if self.is_on {
            split::find(text, |range, row| found.push((range, row)));
        }
        for (index, (_, regex)) in self.own.iter().enumerate() {
            find(regex, None, text, |range| found.push((range, table::TABLE.len() + index)));
        }
        found.sort_by_key(|(range, pattern)| (range.start, *pattern));
        found.dedup_by(|next, kept| {
            let overlaps = next.0.start < kept.0.end;
            if overlaps {
                kept.0.end = kept.0.end.max(next.0.end);
            }
            overlaps
        });
        found
    }

    fn replace(&self, text: &str, found: &[(Range<usize>, usize)]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (range, pattern) in found {
            let mark = mark(self.name(*pattern));
            out.push_str(&text[done..range.start]);
            let end = |line: &str| if line.ends_with('\r') { "\r" } else { "" };
            let marks = text[range.clone()].split('\n').map(|line| format!("{mark}{}", end(line)));
            out.push_str(&marks.collect::<Vec<_>>().join("\n"));
            done = range.end;
        }
        out.push_str(&text[done..]);
        out
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").field("identity", &self.identity).finish_non_exhaustive()
    }
}

fn find(regex: &Regex, is_one: Option<IsOne>, text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut from = 0;
    while let Some(captures) = regex.captures_at(text, from) {
        let whole = captures.get(0).map_or(from..from, |whole| whole.range());
        let group = captures.get(1).filter(|_| is_one.is_some());
        let range = group.map_or(whole.clone(), |group| without_backslash(text, group.range()));
        let after = text[range.end..].chars().next();
        let is_one = is_one.is_none_or(|is_one| is_one(&text[range.clone()], after));
        // What was no value may hold the word before the next one.
        let again = !is_one && range.start > whole.start;
        from = if again { range.start } else { whole.end };
        from = text.ceil_char_boundary(from.max(whole.start + 1));
        if is_one {
            let range = if group.is_some() { to_value_end(text, range) } else { range };
            from = from.max(range.end);
            found(range);
        }
        if from >= text.len() {
            break;
        }
    }
}

impl Counts {
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    pub fn add(&mut self, other: Self) {
        for (name, count) in other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// Names and numbers, for people.
    pub fn words(&self) -> String {
        self.0.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    }
}

/// The text with a star for every byte of a range of whole characters, line ends left out.
pub fn stars(text: &str, range: Range<usize>) -> String {
    let star = |byte: u8| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { '*' };
    let hidden: String = text[range.clone()].bytes().map(star).collect();
    format!("{}{hidden}{}", &text[..range.start], &text[range.end..])
}

/// Inside JSON a closing quote brings its backslash along, which is no part of the value.
fn without_backslash(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range.clone()].trim_end_matches('\\').len()
}

/// A long value to its end: expressions look at the beginning only, which keeps them linear.
fn to_value_end(text: &str, range: Range<usize>) -> Range<usize> {
    if range.len() < table::LOOKED_AT_BYTES {
        return range;
    }
    let ends = |byte: u8| !byte.is_ascii_alphanumeric() && !b"+/_=.~-".contains(&byte);
    let rest = text.as_bytes()[range.end..].iter().position(|byte| ends(*byte));
    range.start..rest.map_or(text.len(), |length| range.end + length)
}

/// What stands in the place of a secret.
fn mark(name: &str) -> String {
    format!("[redacted: {name}]")
}

fn compile(expression: &str) -> Result<Regex, Problem> {
    let regex = RegexBuilder::new(expression).multi_line(true).size_limit(MAX_REGEX_BYTES).build();
    regex.map_err(|error| {
        // The last line is the reason; the others draw the pattern.
        let words = error.to_string();
        let reason = words.lines().last().unwrap_or_default().trim();
        Problem::Expression(reason.strip_prefix("error: ").unwrap_or(reason).to_owned())
    })
}

/// The expression of a user's pattern: one that leaves marks alone and finds something.
fn own_regex(name: &str, pattern: &str) -> Result<Regex, Problem> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(plain) {
        return Err(Problem::Name);
    }
    let ours: BTreeSet<&str> = table::TABLE.iter().map(|row| row.name).collect();
    if ours.contains(name) {
        return Err(Problem::BuiltIn(name.to_owned()));
    }
    let regex = compile(pattern)?;
    if regex.is_match("") {
        return Err(Problem::Empty);
    }
    let marks = ours.into_iter().chain([name]).map(mark);
    match marks.into_iter().find(|mark| regex.is_match(mark)) {
        Some(mark) => Err(Problem::Mark(mark)),
        None => Ok(regex),
    }
}

/// Why a user's pattern cannot be used.
pub fn problem(own: &OwnPattern) -> Option<Problem> {
    own_regex(&own.name, &own.pattern).err()
}

impl Redaction {
    /// A reply as it came. Inside JSON a secret may be written with escapes, so its texts are looked at too.
    pub fn reply(&self, reply: &str) -> String {
        let hidden = self.hide(reply);
        if self.is_off() {
            return hidden;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(unfence(hidden.trim())) else { return hidden };
        if self.value(&mut value) > 0 { value.to_string() } else { hidden }
    }

    /// The texts of an answer; the count goes with it.
    pub fn answer(&self, answer: &mut Answer) {
        let mut counts = Counts::default();
        let mut hide = |text: &mut String| {
            let (hidden, found) = self.redact(text);
            if found.total() > 0 {
                *text = hidden.into_owned();
            }
            counts.add(found);
        };
        answer.words(&mut hide);
        let flaws = answer.rulings.iter_mut().flat_map(|ruling| &mut ruling.flaws).chain(&mut answer.flaws);
        flaws.filter_map(|flaw| flaw.claim.as_mut()?.file.as_mut()).for_each(hide);
        answer.redacted = answer.redacted.saturating_add(counts.total());
    }

    /// Every text in a value; the number of secrets that were in them.
    pub fn value(&self, value: &mut Value) -> usize {
        match value {
            Value::String(text) => {
                let (hidden, found) = self.redact(text);
                *text = hidden.into_owned();
                found.total()
            }
            Value::Array(values) => values.iter_mut().map(|value| self.value(value)).sum(),
            Value::Object(members) => {
                let mut total = 0;
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(key, mut value)| {
                        let (hidden, found) = self.redact(&key);
                        total += found.total() + self.value(&mut value);
                        (hidden.into_owned(), value)
                    })
                    .collect();
                total
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests;
