//! A plan in Markdown: a part is a section or a list entry that begins with an id.

use super::{Kind, Part, is_id};
use countersign_core::markdown::{self, Line, entry, heading};

struct Start {
    /// From 0.
    line: usize,
    /// The level of a heading, or [`ENTRY_DEPTH`] and the indent of an entry.
    depth: usize,
    part: Option<(Kind, String)>,
}

/// A list entry is inside of every section.
const ENTRY_DEPTH: usize = 7;

pub fn parts(file: &str, text: &str) -> Vec<Part> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = starts(text);
    let part = |(i, start): (usize, &Start)| {
        let (kind, id) = start.part.clone()?;
        let after = starts[i + 1..].iter().find(|next| next.depth <= start.depth);
        let end = after.map_or(lines.len(), |next| next.line);
        let text = lines[start.line..end].join("\n");
        let text = text.trim_end();
        let last = start.line + text.lines().count().max(1);
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let lines = Some((number(start.line + 1), number(last)));
        Some(Part { kind, id, file: file.to_owned(), lines, text: text.to_owned() })
    };
    starts.iter().enumerate().filter_map(part).collect()
}

fn starts(text: &str) -> Vec<Start> {
    let start = |line: Line<'_>| {
        let (depth, words) = match heading(line.text) {
            Some(found) => found,
            None => (
                ENTRY_DEPTH + line.text.len() - line.text.trim_start().len(),
                entry(line.text)?..line.text.len(),
            ),
        };
        let part = named_part(line.text.get(words)?, depth < ENTRY_DEPTH);
        Some(Start { line: line.number - 1, depth, part })
    };
    markdown::lines(text).filter(|line| !line.is_code).filter_map(start).collect()
}

/// The part that a title names: `Milestone M1: …`, `M-001 …`, `CI-1: …`. Lists only mention milestones.
fn named_part(title: &str, is_heading: bool) -> Option<(Kind, String)> {
    let mut words = title.split_whitespace().map(|word| {
        word.trim_matches(|c: char| matches!(c, '*' | '_' | '`' | '[' | ']' | '(' | ')' | ':' | ',' | '#'))
    });
    let first = words.next()?;
    if first.eq_ignore_ascii_case("milestone") && is_heading {
        let id = words.next().map(bare).filter(|id| is_id(id))?;
        let numbered = id.bytes().all(|byte| byte.is_ascii_digit());
        return Some((Kind::Milestone, if numbered { format!("M{id}") } else { id.to_owned() }));
    }
    let id = bare(first);
    let kind = match id.get(..3)?.to_ascii_uppercase().as_str() {
        "CI-" => Kind::CodeIntent,
        "CC-" => Kind::CodeChange,
        _ => return milestone(id).filter(|_| is_heading),
    };
    is_id(id).then(|| (kind, id.to_owned()))
}

/// The word up to the colon or the dot that ends an id.
fn bare(word: &str) -> &str {
    word.split(':').next().unwrap_or(word).trim_end_matches(['.', '-', '*', '_', '`'])
}

/// `M1`, `M-001`.
fn milestone(id: &str) -> Option<(Kind, String)> {
    let rest = id.strip_prefix(['M', 'm'])?;
    let number = rest.strip_prefix('-').unwrap_or(rest);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && is_id(id);
    is_number.then(|| (Kind::Milestone, id.to_owned()))
}
