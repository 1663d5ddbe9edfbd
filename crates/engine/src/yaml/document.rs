//! A file, as far as it can be read as what it should be.

use super::decode::decode;
use super::diagnostic::Diagnostic;
use super::sink::ProblemList;
use super::source::{FileBytes, Source};
use super::tree::{self, Value};
use serde::de::DeserializeOwned;
use std::ops::Range;

/// A file that is YAML, with everything that is wrong with it so far.
pub struct Document<T> {
    pub sink: ProblemList,
    /// Where it begins, for what is missing.
    pub start: Range<usize>,
    /// Whether it says nothing at all.
    pub is_empty: bool,
    /// What it says; nothing where it is empty or something else altogether, which is reported already.
    pub value: Option<T>,
}

/// Reads a file. One that is not YAML has one problem and is no document.
pub fn read<T: DeserializeOwned>(file: &FileBytes) -> Result<Document<T>, Diagnostic> {
    let source = Source::read(file)?;
    let root = tree::parse(&source)?;
    let mut sink = ProblemList::new(&source);
    let start = root.span.start..root.span.start;
    if matches!(root.value, Value::Null) {
        return Ok(Document { sink, start, is_empty: true, value: None });
    }
    let (value, faults) = decode::<T>(&root, source.text());
    sink.faults(faults);
    Ok(Document { sink, start, is_empty: false, value })
}
