//! Finds the phases and tasks of a plan as byte spans, and checks no values. Reading and editing both begin here.

use super::line::{self, Heading, TaskLine};
use countersign_core::markdown::{self, Line};
use std::ops::Range;

/// A task of the text. All spans are bytes of the text.
#[derive(Debug)]
pub(super) struct Entry {
    /// The index of its phase, which is the last one above it; none before the first.
    pub phase: Option<usize>,
    /// The heading between it and its phase, if there is one.
    pub heading: Option<Range<usize>>,
    pub tick: Range<usize>,
    pub title: Range<usize>,
    pub status: Option<Range<usize>>,
    /// The fields below it: label and value. A value may have several lines.
    pub fields: Vec<(&'static str, Range<usize>, String)>,
    /// The review block, with its last line end.
    pub review: Option<Block>,
    /// The end of its last line, where a review is added.
    pub end: usize,
}

impl Entry {
    /// Whether it is a task: it has a status, and stands in a phase. The others are text.
    pub fn is_task(&self) -> bool {
        self.phase.is_some() && self.status.is_some()
    }
}

#[derive(Debug)]
pub(super) struct Block {
    pub span: Range<usize>,
    pub fields: Vec<(&'static str, Range<usize>, String)>,
    pub issues: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The numbers of the phases.
    pub phases: Vec<Range<usize>>,
    pub entries: Vec<Entry>,
    pub almost: Vec<Range<usize>>,
    pub open_fence: Option<Range<usize>>,
    /// Whether the text has a `\r\n` where its first line ends.
    pub crlf: bool,
}

/// Finds the tasks of a text that has no byte order mark.
pub(super) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner::default();
    scanner.scan.crlf = text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"));
    let mut lines = markdown::lines(text);
    for line in lines.by_ref() {
        if line.is_code { scanner.code(&line) } else { scanner.line(&line) }
    }
    scanner.scan.open_fence = lines.open_fence();
    scanner.scan
}

#[derive(Default)]
struct Scanner {
    scan: Scan,
    /// The last heading that is not that of a phase.
    heading: Option<Range<usize>>,
    /// Whether the next lines belong to the last task.
    below: bool,
    /// The indent of the current review block.
    block_indent: Option<usize>,
}

impl Scanner {
    fn line(&mut self, line: &Line<'_>) {
        if let Some(heading) = line::heading(line.text) {
            self.below = false;
            self.heading = match heading {
                Heading::Phase { number } => {
                    self.scan.phases.push(line.span(number));
                    None
                }
                Heading::AlmostPhase => {
                    self.scan.almost.push(line.whole());
                    self.heading.take()
                }
                Heading::Other => Some(line.whole()),
                Heading::Deeper => self.heading.take(),
            };
            return;
        }
        if let Some(task) = line::task(line.text) {
            return self.task(line, task);
        }
        match markdown::indent(line.text) {
            // Blank lines neither belong to a task nor end it.
            _ if line.text.trim().is_empty() => {}
            0 => self.below = false,
            indent if self.below => self.under(line, indent),
            _ => {}
        }
    }

    fn task(&mut self, line: &Line<'_>, task: TaskLine) {
        self.below = true;
        self.block_indent = None;
        self.scan.entries.push(Entry {
            phase: self.scan.phases.len().checked_sub(1),
            heading: self.heading.clone(),
            tick: line.span(task.tick),
            title: line.span(task.title),
            status: task.status.map(|span| line.span(span)),
            fields: vec![],
            review: None,
            end: line.end,
        });
    }

    fn under(&mut self, line: &Line<'_>, indent: usize) {
        let Some(entry) = self.scan.entries.last_mut() else { return };
        entry.end = line.end;
        let field = line::field(line.text);
        if let (Some(block), Some(at)) = (entry.review.as_mut(), self.block_indent) {
            if indent > at {
                block.span.end = line.end;
                block.take(line, field);
                return;
            }
            self.block_indent = None;
        }
        match field {
            Some(("Review", value)) if value.is_empty() && entry.review.is_none() => {
                entry.review = Some(Block { span: line.at..line.end, fields: vec![], issues: vec![] });
                self.block_indent = Some(indent);
            }
            Some((label, value)) => {
                let text = line.text.get(value.clone()).unwrap_or_default().to_owned();
                entry.fields.push((label, line.span(value), text));
            }
            None => {
                if let Some((_, _, text)) = entry.fields.last_mut() {
                    text.push('\n');
                    text.push_str(line.text.trim());
                }
            }
        }
    }

    /// A line of a code fence, which belongs to a task if it is indented.
    fn code(&mut self, line: &Line<'_>) {
        if !self.below || line.text.trim().is_empty() {
            return;
        }
        if markdown::indent(line.text) == 0 {
            self.below = false;
        } else if let Some(entry) = self.scan.entries.last_mut() {
            entry.end = line.end;
            self.block_indent = None;
        }
    }
}

impl Block {
    fn take(&mut self, line: &Line<'_>, field: Option<(&'static str, Range<usize>)>) {
        let in_issues = self.fields.last().is_some_and(|(label, ..)| *label == "Issues");
        match field {
            Some((label @ ("Attempt" | "Last Result" | "Issues" | "Reviewed At"), value)) => {
                let text = line.text.get(value.clone()).unwrap_or_default().to_owned();
                self.fields.push((label, line.span(value), text));
            }
            _ if in_issues => {
                let text = line.text.trim().trim_start_matches("- ").to_owned();
                self.issues.push(text);
            }
            _ => {}
        }
    }
}
