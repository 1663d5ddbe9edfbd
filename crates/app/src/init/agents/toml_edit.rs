//! Inserts one table into TOML text and removes it again, without changing another byte.
//!
//! The parser gives the places, and the text is cut and joined here: writing a document back from its parsed form would
//! change line breaks and the end of the file.

use super::edit::{Fault, Members, SpannedValue, cut, inline};
use ::toml_edit::{Document, Item, Table, Value as TomlValue};
use serde_json::{Map, Value};
use std::ops::Range;

pub fn look(text: &str, path: &[&str]) -> Result<Option<SpannedValue>, Fault> {
    let document = parse(text)?;
    let Some(item) = find(&document, path)? else { return Ok(None) };
    Ok(Some(SpannedValue { value: value(item), span: item.span().unwrap_or_default() }))
}

pub fn create(path: &[&str], members: &Members) -> String {
    format!("{}\n", block(path, members, "\n"))
}

/// The text with a new table at the end; unchanged if there is a value at the path.
pub fn insert(text: &str, path: &[&str], members: &Members) -> Result<String, Fault> {
    let document = parse(text)?;
    if find(&document, path)?.is_some() {
        return Ok(text.to_owned());
    }
    let eol = match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let block = block(path, members, eol);
    let out = match text.is_empty() || text.ends_with('\n') {
        true => format!("{text}{eol}{block}{eol}"),
        false => format!("{text}{eol}{eol}{block}"),
    };
    let holder = path.first().and_then(|name| document.get(name)).and_then(Item::span).unwrap_or_default();
    let words = "no table can be added to this value";
    match parse(&out) {
        Ok(_) => Ok(out),
        Err(_) => Err(Fault::shape(holder, words)),
    }
}

/// The text without a table and those below it; none if the file was only made for it.
pub fn remove(text: &str, path: &[&str]) -> Result<Option<String>, Fault> {
    let document = parse(text)?;
    let Some(item) = find(&document, path)? else { return Ok(Some(text.to_owned())) };
    let mut blocks = vec![];
    let table = item.as_table().filter(|table| !table.is_implicit() && !table.is_dotted());
    let Some(table) = table else {
        let message = "this is not a table with its own header";
        return Err(Fault::shape(item.span().unwrap_or_default(), message));
    };
    headed_blocks(text, table, &mut blocks);
    let from_the_start = blocks.iter().any(|block| block.start == 0);
    let out = cut(text, blocks.into_iter().map(|block| with_line_breaks(text, block)).collect());
    parse(&out)?;
    Ok((!from_the_start || !out.trim().is_empty()).then_some(out))
}

fn parse(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Fault::syntax(error.span().unwrap_or_default(), message)
    })
}

fn find<'d>(document: &'d Document<&str>, path: &[&str]) -> Result<Option<&'d Item>, Fault> {
    let mut item = document.as_item();
    let mut holder = "";
    for name in path {
        let Some(table) = item.as_table_like() else {
            let span = item.span().unwrap_or_default();
            return Err(Fault::shape(span, format!("`{holder}` is not a table")));
        };
        let Some(next) = table.get(name) else { return Ok(None) };
        (item, holder) = (next, name);
    }
    Ok(Some(item))
}

fn block(path: &[&str], members: &Members, eol: &str) -> String {
    let pair = |(name, value): &(&str, Value)| format!("{eol}{name} = {}", inline(value));
    format!("[{}]{}", path.join("."), members.iter().map(pair).collect::<String>())
}

/// The ranges of a table, from the line of its header to the line of its last value, and of those below it.
fn headed_blocks(text: &str, table: &Table, blocks: &mut Vec<Range<usize>>) {
    if let Some(header) = table.span().filter(|_| !table.is_implicit()) {
        let end = last_value(table).unwrap_or(header.end).max(header.end);
        let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        let start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
        blocks.push(start..end);
    }
    for (_, item) in table {
        match item {
            Item::Table(below) if !below.is_dotted() => headed_blocks(text, below, blocks),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| headed_blocks(text, below, blocks)),
            _ => {}
        }
    }
}

fn last_value(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(below) if below.is_dotted() => last_value(below),
        _ => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

/// The block with the empty line before it, and with the line break that was added to a file without a final one.
fn with_line_breaks(text: &str, block: Range<usize>) -> Range<usize> {
    let line_break = |before: &str| match before.strip_suffix('\n') {
        Some(rest) => before.len() - rest.strip_suffix('\r').unwrap_or(rest).len(),
        None => 0,
    };
    let mut start = block.start;
    let above = &text[..start - line_break(&text[..start])];
    if above.is_empty() || above.ends_with('\n') {
        start = above.len();
    }
    if !text[..block.end].ends_with('\n') {
        start -= line_break(&text[..start]);
    }
    start..block.end
}

/// The value as JSON; a value that JSON does not have is a text.
fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(one) => plain(one),
        Item::Table(table) => {
            table.iter().map(|(name, item)| (name.to_owned(), value(item))).collect::<Map<_, _>>().into()
        }
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| value(&Item::Table(table.clone()))).collect()
        }
    }
}

fn plain(one: &TomlValue) -> Value {
    match one {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(number) => (*number.value()).into(),
        TomlValue::Boolean(truth) => (*truth.value()).into(),
        TomlValue::Array(items) => items.iter().map(plain).collect(),
        TomlValue::InlineTable(table) => {
            table.iter().map(|(name, one)| (name.to_owned(), plain(one))).collect::<Map<_, _>>().into()
        }
        TomlValue::Float(_) | TomlValue::Datetime(_) => one.to_string().trim().into(),
    }
}

#[cfg(test)]
mod tests;
