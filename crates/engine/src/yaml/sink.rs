//! A file as far as it can be read, and what is wrong with it while its meaning is worked out.

use super::at::At;
use super::decode::{Fault, decode};
use super::diagnostic::{Diagnostic, MAX_PROBLEMS, did_you_mean, quoted};
use super::source::{FileBytes, Place, Source};
use super::tree::{self, Value};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A longer name does not fit a line of a report.
const MAX_NAME_CHARS: usize = 200;

pub struct ProblemList {
    source: Arc<Source>,
    pub problems: Vec<Diagnostic>,
}

impl ProblemList {
    pub(super) fn new(source: &Arc<Source>) -> Self {
        Self { source: Arc::clone(source), problems: Vec::new() }
    }

    /// The folder of the file, from which its paths begin.
    pub fn folder(&self) -> &Path {
        self.source.path().parent().unwrap_or(Path::new(""))
    }

    pub fn place(&self, span: &Range<usize>) -> Place {
        Place::new(&self.source, span.clone())
    }

    pub fn report(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(code, self.place(span), message));
    }

    pub fn report_with_hint(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::new(code, self.place(span), message).with_hint(hint));
    }

    /// Reports an unknown name, with the one that is meant or all known ones; `are_known` is what they are.
    pub fn report_unknown(
        &mut self,
        code: &'static str,
        at: (&str, &Range<usize>),
        message: impl Into<String>,
        (known, are_known): (&[&str], &str),
    ) {
        let mut problem = Diagnostic::new(code, self.place(at.1), message);
        // Comparing takes time, and so many are never shown.
        if self.problems.len() < 4 * MAX_PROBLEMS {
            problem = problem.with_hint(did_you_mean(at.0, known, are_known));
        }
        self.problems.push(problem);
    }

    pub(super) fn faults(&mut self, faults: Vec<Fault>) {
        for Fault { code, message, hint, span, .. } in faults {
            let place = self.place(&span.unwrap_or_default());
            self.problems.push(Diagnostic { hint, ..Diagnostic::new(code, place, message) });
        }
    }

    /// The value of a key that must be there. `owner` is what lacks it, such as "this rule".
    pub fn required<'a, T>(
        &mut self,
        field: Option<&'a At<T>>,
        key: &str,
        owner: (&str, &Range<usize>),
    ) -> Option<(&'a T, &'a Range<usize>)> {
        if field.is_none() {
            self.report("missing-key", owner.1, format!("{} has no `{key}`", owner.0));
        }
        field.and_then(|at| at.value.as_ref().map(|value| (value, &at.span)))
    }

    /// The name of something, if it is fit to be one.
    pub fn name(&mut self, field: Option<&At<String>>, owner: (&str, &Range<usize>)) -> Option<Named> {
        let (name, span) = self.required(field, "name", owner)?;
        let problem = if name.trim().is_empty() {
            "the name is empty".to_owned()
        } else if name.trim() != name {
            format!("the name {} begins or ends with white space", quoted(name))
        } else if name.chars().count() > MAX_NAME_CHARS {
            format!("the name is longer than {MAX_NAME_CHARS} characters")
        } else if name.chars().any(countersign_core::text::hides) {
            format!("the name {} holds a character that cannot be seen", quoted(name))
        } else {
            return Some(Named { name: name.clone(), span: span.clone() });
        };
        self.report("bad-name", span, problem);
        None
    }

    /// Reports every name that was there before, to `same`; `what` has the name, such as "a rule".
    pub fn unique<'a>(
        &mut self,
        what: &str,
        same: fn(&str) -> String,
        names: impl Iterator<Item = &'a Named>,
    ) {
        let mut seen: HashMap<String, &Named> = HashMap::new();
        for named in names {
            let first = *seen.entry(same(&named.name)).or_insert(named);
            if std::ptr::eq(first, named) {
                continue;
            }
            let other = self.place(&first.span);
            let mut message =
                format!("{what} on line {} already has the name {}", other.line(), quoted(&first.name));
            if first.name != named.name {
                message.push_str(&format!(", which is the same as {}", quoted(&named.name)));
            }
            let problem = Diagnostic::new("duplicate-name", self.place(&named.span), message);
            self.problems.push(problem.with_related(other, "the first one"));
        }
    }
}

/// A good name and where it is written.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: String,
    pub span: Range<usize>,
}

/// A file that is YAML, with everything that is wrong with it so far.
pub struct Document<T> {
    pub sink: ProblemList,
    /// Where it begins, for what is missing.
    pub start: Range<usize>,
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
