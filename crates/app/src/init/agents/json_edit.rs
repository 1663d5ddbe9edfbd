//! Inserts one member of a nested object into JSON text and removes it again, without changing another byte.
//!
//! Removing restores the text before inserting, because the two ambiguous cases are written differently: a member goes
//! *directly* behind the brace of an empty object that was there, while a new object has white space behind its brace.

use super::edit::{Fault, Members, SpannedValue, cut, inline};
use super::json_scan::{Kind, Member, Node, end_of_line_comments, scan};
use countersign_engine::programs::Dialect;
use std::ops::Range;

pub const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];
const UNIT: &str = "  ";

pub fn look(text: &str, dialect: Dialect, path: &[&str]) -> Result<Option<SpannedValue>, Fault> {
    let root = scan(text, dialect)?;
    let (trail, node) = walk(&root, path)?;
    let there = trail.len() == path.len();
    Ok(there.then(|| SpannedValue { value: node.value(text), span: node.span.clone() }))
}

#[derive(Clone, Copy)]
pub enum Content<'c> {
    /// An object, in the layout of the text around it.
    Members(&'c Members),
    Line(&'c str),
}

pub fn create(path: &[&str], content: Content<'_>) -> String {
    let layout = Layout::Lines { eol: "\n", indent: UNIT.to_owned(), unit: UNIT.to_owned() };
    format!("{{\n{UNIT}{}\n}}\n", layout.member(path, content))
}

/// The text with a member at a path; unchanged if there is one.
pub fn insert(text: &str, dialect: Dialect, path: &[&str], content: Content<'_>) -> Result<String, Fault> {
    let root = scan(text, dialect)?;
    let (trail, node) = walk(&root, path)?;
    let missing = &path[trail.len()..];
    if missing.is_empty() {
        return Ok(text.to_owned());
    }
    let siblings = object(node, trail.last().map(|(_, member)| *member))?;
    let Some(last) = siblings.last() else {
        let behind_brace = node.span.start + 1;
        let member = Layout::Line { gap: "" }.member(missing, content);
        return Ok(spliced(text, &[(behind_brace, &member)]));
    };
    let end = last.comma.map_or(last.value.span.end, |comma| comma + 1);
    let at = end_of_line_comments(text, end);
    let layout = Layout::beside(text, last, &root, text[end..at].contains("//"));
    let member = format!("{}{}", layout.gap(), layout.member(missing, content));
    Ok(match last.comma {
        None => spliced(text, &[(end, ","), (at, &member)]),
        Some(_) => spliced(text, &[(at, &format!("{member},"))]),
    })
}

/// The text without the member at a path and the objects that were only made for it; none if nothing else is left.
pub fn remove(text: &str, dialect: Dialect, path: &[&str]) -> Result<Option<String>, Fault> {
    let root = scan(text, dialect)?;
    let (mut trail, _) = walk(&root, path)?;
    if trail.len() < path.len() {
        return Ok(Some(text.to_owned()));
    }
    while let Some((holder, member)) = trail.pop() {
        if !only_made_for(text, holder, member) {
            let out = cut(text, cuts(text, holder, member));
            // A comment that ends with its line may now hide more than before.
            let same = scan(&out, dialect)
                .is_ok_and(|now| now.value(&out) == without(&root, text, path, trail.len()));
            let words = "this cannot be removed without a change to the text around it";
            return same.then_some(Some(out)).ok_or_else(|| Fault::shape(member.key.clone(), words));
        }
    }
    let outside = [&text[..root.span.start], &text[root.span.end..]];
    let nothing_else = outside.iter().all(|part| part.trim_matches(WHITE).is_empty());
    Ok((!nothing_else).then(|| format!("{}{{}}{}", outside[0], outside[1])))
}

/// The expected value: without the member at this depth of the path.
fn without(root: &Node, text: &str, path: &[&str], depth: usize) -> serde_json::Value {
    let mut value = root.value(text);
    let mut holder = Some(&mut value);
    for name in &path[..depth] {
        holder = holder.and_then(|value| value.get_mut(*name));
    }
    if let Some(map) = holder.and_then(|value| value.as_object_mut()) {
        map.remove(path[depth]);
    }
    value
}

/// An object, and its member on the path.
pub type Step<'n> = (&'n Node, &'n Member);

/// Follows a path as far as it exists: the steps, and the last value.
pub fn walk<'n>(root: &'n Node, path: &[&str]) -> Result<(Vec<Step<'n>>, &'n Node), Fault> {
    let (mut trail, mut node) = (vec![], root);
    for name in path {
        let members = object(node, trail.last().map(|(_, member)| *member))?;
        let mut named = members.iter().filter(|member| member.name == *name);
        let Some(member) = named.next() else { break };
        if let Some(second) = named.next() {
            let message = format!("`{name}` is here for the second time");
            return Err(Fault::shape(second.key.clone(), message));
        }
        trail.push((node, member));
        node = &member.value;
    }
    Ok((trail, node))
}

fn object<'n>(node: &'n Node, of: Option<&Member>) -> Result<&'n [Member], Fault> {
    match (&node.kind, of.map(|member| member.name.as_str())) {
        (Kind::Object(members), _) => Ok(members),
        (_, Some(name)) => Err(Fault::shape(node.span.clone(), format!("`{name}` is not an object"))),
        (_, None) => Err(Fault::shape(node.span.clone(), "the file does not hold an object")),
    }
}

pub fn spliced(text: &str, pieces: &[(usize, &str)]) -> String {
    let mut out = text.to_owned();
    for (at, piece) in pieces.iter().rev() {
        out.insert_str(*at, piece);
    }
    out
}

/// Whether an object has only this member, and white space behind its brace.
fn only_made_for(text: &str, holder: &Node, member: &Member) -> bool {
    let inside = holder.span.start + 1..holder.span.end - 1;
    let before = &text[inside.start..member.key.start];
    let after = &text[member.value.span.end..inside.end];
    let white = |part: &str| part.chars().all(|c| WHITE.contains(&c));
    !before.is_empty() && white(before) && white(&after.replacen(',', "", 1))
}

/// The ranges of a member: the white space before it, and one comma.
fn cuts(text: &str, holder: &Node, member: &Member) -> Vec<Range<usize>> {
    let Kind::Object(members) = &holder.kind else { return vec![] };
    let place = members.iter().position(|other| other.key == member.key).unwrap_or_default();
    let one = |comma: usize| comma..comma + 1;
    let whole = lead(text, member)..member.value.span.end;
    let previous = place.checked_sub(1).and_then(|place| members.get(place));
    match (member.comma, previous, members.get(place + 1)) {
        (Some(comma), None, Some(_)) => {
            let rest = &text[comma + 1..];
            let follows = rest.len() - rest.trim_start_matches(WHITE).len();
            vec![member.key.start..member.value.span.end, comma..comma + 1 + follows]
        }
        (Some(comma), _, _) => vec![whole, one(comma)],
        (None, Some(previous), _) => {
            vec![previous.comma.map_or(whole.start..whole.start, one), whole]
        }
        (None, None, _) => vec![whole],
    }
}

/// The start of the white space before a member, from its own line break.
fn lead(text: &str, member: &Member) -> usize {
    let before = &text[..member.key.start];
    let gap = &before[before.trim_end_matches(WHITE).len()..];
    let own = match gap.rfind('\n') {
        Some(at) if gap[..at].ends_with('\r') => at - 1,
        Some(at) => at,
        None => 0,
    };
    before.len() - gap.len() + own
}

enum Layout<'t> {
    /// Each member on a line of its own.
    Lines {
        eol: &'t str,
        indent: String,
        unit: String,
    },
    Line {
        gap: &'t str,
    },
}

impl<'t> Layout<'t> {
    /// The layout of an existing member. After a comment that ends with its line, a new line is needed.
    fn beside(text: &'t str, member: &Member, root: &Node, new_line: bool) -> Self {
        let lead = &text[lead(text, member)..member.key.start];
        let unit = match &root.kind {
            Kind::Object(members) => members.first().and_then(|first| indent(text, first)),
            _ => None,
        };
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT).to_owned();
        let crlf = lead.starts_with('\r') || !lead.contains('\n') && text.contains("\r\n");
        let eol = if crlf { "\r\n" } else { "\n" };
        match indent(text, member) {
            Some(indent) => Self::Lines { eol, indent: indent.to_owned(), unit },
            None if new_line => Self::Lines { eol, indent: unit.clone(), unit },
            None if lead.is_empty() => Self::Line { gap: " " },
            None => Self::Line { gap: lead },
        }
    }

    fn gap(&self) -> String {
        match self {
            Self::Lines { eol, indent, .. } => format!("{eol}{indent}"),
            Self::Line { gap } => (*gap).to_owned(),
        }
    }

    /// A member at the end of a path, inside the objects that lead to it.
    fn member(&self, path: &[&str], content: Content<'_>) -> String {
        let Some((name, rest)) = path.split_first() else { return String::new() };
        let inner = match self {
            Self::Lines { eol, indent, unit } => {
                Self::Lines { eol, indent: format!("{indent}{unit}"), unit: unit.clone() }
            }
            Self::Line { .. } => Self::Line { gap: " " },
        };
        let content = match (rest, content) {
            ([], Content::Line(line)) => return format!("{}: {line}", quoted(name)),
            ([], Content::Members(members)) => {
                let pair = |(name, value): &(&str, _)| format!("{}: {}", quoted(name), inline(value));
                members.iter().map(pair).collect::<Vec<_>>().join(&format!(",{}", inner.gap()))
            }
            (rest, content) => inner.member(rest, content),
        };
        let close = match self {
            Self::Lines { .. } => self.gap(),
            Self::Line { .. } => " ".to_owned(),
        };
        format!("{}: {{{}{content}{close}}}", quoted(name), inner.gap())
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

fn indent<'t>(text: &'t str, member: &Member) -> Option<&'t str> {
    let lead = &text[lead(text, member)..member.key.start];
    lead.rfind('\n').map(|at| &lead[at + 1..])
}

#[cfg(test)]
mod tests;
