//! Putting one member of a nested object into JSON text and taking it out again, touching no other byte.
//!
//! Taking out gives back what was there before putting in, without any memory of it, because the two cases
//! that would look alike are written differently: a member goes *directly* behind the brace of an empty object
//! that was there, while an object that we make has white space behind its brace.

use super::edit::{Fault, Members, Standing, cut, inline};
use super::json_scan::{Kind, Member, Node, end_of_line_comments, scan};
use countersign_engine::programs::Dialect;
use std::ops::Range;

pub const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];
const UNIT: &str = "  ";

/// What stands at a path.
pub fn look(text: &str, dialect: Dialect, path: &[&str]) -> Result<Option<Standing>, Fault> {
    let root = scan(text, dialect)?;
    let (trail, node) = walk(&root, path)?;
    let there = trail.len() == path.len();
    Ok(there.then(|| Standing { value: node.value(text), span: node.span.clone() }))
}

/// A new file.
pub fn create(path: &[&str], members: &Members) -> String {
    create_with(path, Content::Members(members))
}

/// The text with a member at a path; as it is if one stands there.
pub fn insert(text: &str, dialect: Dialect, path: &[&str], members: &Members) -> Result<String, Fault> {
    put(text, dialect, path, Content::Members(members))
}

/// What a new member holds.
#[derive(Clone, Copy)]
pub enum Content<'c> {
    /// An object, laid out as its surroundings are.
    Members(&'c Members),
    /// Something on one line.
    Line(&'c str),
}

/// A new file.
pub fn create_with(path: &[&str], content: Content<'_>) -> String {
    let layout = Layout::Lines { eol: "\n", indent: UNIT.to_owned(), unit: UNIT.to_owned() };
    format!("{{\n{UNIT}{}\n}}\n", layout.member(path, content))
}

/// The text with a member at a path, whatever it holds; as it is if one stands there.
pub fn put(text: &str, dialect: Dialect, path: &[&str], content: Content<'_>) -> Result<String, Fault> {
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

/// The text without the member at a path, and without the objects that were only made for it; nothing if that
/// is all there was.
pub fn remove(text: &str, dialect: Dialect, path: &[&str]) -> Result<Option<String>, Fault> {
    let root = scan(text, dialect)?;
    let (mut trail, _) = walk(&root, path)?;
    if trail.len() < path.len() {
        return Ok(Some(text.to_owned()));
    }
    while let Some((holder, member)) = trail.pop() {
        if !only_made_for(text, holder, member) {
            let out = cut(text, cuts(text, holder, member));
            // A comment that ends with its line may now reach further than it did.
            let same = scan(&out, dialect)
                .is_ok_and(|now| now.value(&out) == without(&root, text, path, trail.len()));
            let words = "this cannot be taken out without touching what stands around it";
            return same.then_some(Some(out)).ok_or_else(|| Fault::shape(member.key.clone(), words));
        }
    }
    let outside = [&text[..root.span.start], &text[root.span.end..]];
    let nothing_else = outside.iter().all(|part| part.trim_matches(WHITE).is_empty());
    Ok((!nothing_else).then(|| format!("{}{{}}{}", outside[0], outside[1])))
}

/// The value that is meant to be left: all but the member at this depth of the path.
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

/// An object, and the member of it that was taken.
pub type Step<'n> = (&'n Node, &'n Member);

/// Follows a path as far as it goes: the steps, and the last value.
pub fn walk<'n>(root: &'n Node, path: &[&str]) -> Result<(Vec<Step<'n>>, &'n Node), Fault> {
    let (mut trail, mut node) = (vec![], root);
    for name in path {
        let members = object(node, trail.last().map(|(_, member)| *member))?;
        let mut named = members.iter().filter(|member| member.name == *name);
        let Some(member) = named.next() else { break };
        if let Some(second) = named.next() {
            return Err(Fault::shape(
                second.key.clone(),
                format!("`{name}` stands here for the second time"),
            ));
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

/// Whether an object has this member, white space behind its brace, and nothing else.
fn only_made_for(text: &str, holder: &Node, member: &Member) -> bool {
    let inside = holder.span.start + 1..holder.span.end - 1;
    let before = &text[inside.start..member.key.start];
    let after = &text[member.value.span.end..inside.end];
    let white = |part: &str| part.chars().all(|c| WHITE.contains(&c));
    !before.is_empty() && white(before) && white(&after.replacen(',', "", 1))
}

/// What goes with a member: the white space that leads to it, and one comma.
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

/// Where the white space begins that belongs to a member: its own line break, or all that is on its line.
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

/// How new text is laid out.
enum Layout<'t> {
    /// Each member on a line of its own.
    Lines { eol: &'t str, indent: String, unit: String },
    /// All on one line.
    Line { gap: &'t str },
}

impl<'t> Layout<'t> {
    /// As a member that is there already. A comment that ends with its line asks for a new one.
    fn beside(text: &'t str, member: &Member, root: &Node, new_line: bool) -> Self {
        let lead = &text[lead(text, member)..member.key.start];
        let unit = match &root.kind {
            Kind::Object(members) => members.first().and_then(|first| indent(text, first)),
            _ => None,
        };
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT).to_owned();
        let eol = if lead.starts_with('\r') || !lead.contains('\n') && text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        match indent(text, member) {
            Some(indent) => Self::Lines { eol, indent: indent.to_owned(), unit },
            None if new_line => Self::Lines { eol, indent: unit.clone(), unit },
            None if lead.is_empty() => Self::Line { gap: " " },
            None => Self::Line { gap: lead },
        }
    }

    /// What stands before a member.
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

/// The indentation of a member that begins its line.
fn indent<'t>(text: &'t str, member: &Member) -> Option<&'t str> {
    let lead = &text[lead(text, member)..member.key.start];
    lead.rfind('\n').map(|at| &lead[at + 1..])
}

#[cfg(test)]
mod tests;
