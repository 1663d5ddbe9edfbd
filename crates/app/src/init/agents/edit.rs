//! Edits one entry of a settings file, in the format of the file. Text in, text out.

use super::json_edit::{self, Content};
use super::toml_edit;
use countersign_engine::programs::FileFormat;
use serde_json::Value;
use std::ops::Range;

pub type Members = Vec<(&'static str, Value)>;

#[derive(Debug, PartialEq)]
pub struct SpannedValue {
    pub value: Value,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub span: Range<usize>,
    pub message: String,
    pub hint: &'static str,
}

impl Fault {
    pub fn syntax(span: Range<usize>, message: impl Into<String>) -> Self {
        let hint = "correct the file, then run the command again; nothing was changed";
        Self { code: "syntax", span, message: message.into(), hint }
    }

    /// The text is valid and has another value in place of the entry.
    pub fn shape(span: Range<usize>, message: impl Into<String>) -> Self {
        let hint = "change it by hand (see `countersign help agents`); nothing was changed";
        Self { code: "shape", span, message: message.into(), hint }
    }
}

pub fn look(format: FileFormat, text: &str, path: &[&str]) -> Result<Option<SpannedValue>, Fault> {
    match format {
        FileFormat::Json(dialect) => json_edit::look(text, dialect, path),
        FileFormat::Toml => toml_edit::look(text, path),
    }
}

pub fn create(format: FileFormat, path: &[&str], members: &Members) -> String {
    match format {
        FileFormat::Json(_) => json_edit::create(path, Content::Members(members)),
        FileFormat::Toml => toml_edit::create(path, members),
    }
}

pub fn insert(format: FileFormat, text: &str, path: &[&str], members: &Members) -> Result<String, Fault> {
    match format {
        FileFormat::Json(dialect) => json_edit::insert(text, dialect, path, Content::Members(members)),
        FileFormat::Toml => toml_edit::insert(text, path, members),
    }
}

pub fn set(format: FileFormat, text: &str, path: &[&str], value: &Value) -> Result<String, Fault> {
    let Some(standing) = look(format, text, path)? else { return Ok(text.to_owned()) };
    let mut out = text.to_owned();
    out.replace_range(standing.span, &inline(value));
    Ok(out)
}

/// The text without an entry; none if the file was only made for it.
pub fn remove(format: FileFormat, text: &str, path: &[&str]) -> Result<Option<String>, Fault> {
    match format {
        FileFormat::Json(dialect) => json_edit::remove(text, dialect, path),
        FileFormat::Toml => toml_edit::remove(text, path),
    }
}

pub fn empty(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Json(_) => "{}\n",
        FileFormat::Toml => "",
    }
}

/// A value on one line, with a space after commas. The values of entries look the same in JSON and TOML.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let pair = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), inline(value))
            };
            format!("{{{}}}", members.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

pub fn cut(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        out.push_str(&text[done..range.start.max(done)]);
        done = range.end.max(done);
    }
    out.push_str(&text[done..]);
    out
}
