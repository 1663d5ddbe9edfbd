//! Finds the tasks of a text and their parts as byte spans, and checks no values. Reading and editing both begin here.

use super::line::{self, Heading, Meta};
use countersign_core::markdown::{self, Line};
use std::ops::Range;

/// A task of the text. All spans are bytes of the text.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub id: Range<usize>,
    pub name: Range<usize>,
    /// The line of its header, from 1.
    pub line: usize,
    pub milestone: Option<Range<usize>>,
    pub meta: Option<Meta>,
    pub second_meta: Option<Range<usize>>,
    /// The boxes of its checklists: the byte between the brackets, and the text.
    pub items: Vec<(Range<usize>, Range<usize>)>,
    pub traces: Vec<Range<usize>>,
    pub depends_on: Vec<Range<usize>>,
    pub blocks: Vec<Range<usize>>,
    pub no_ids: Vec<Range<usize>>,
    pub description: String,
}

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub sections: Vec<Section>,
    /// Headings that name a task and begin none.
    pub almost: Vec<Range<usize>>,
    pub open_fence: Option<Range<usize>>,
    /// The fence that the whole list stands in: it is read as if the fence were not there.
    pub around: Option<Range<usize>>,
}

/// Finds the tasks of a text that has no byte order mark.
pub(super) fn scan(text: &str) -> Scan {
    let from = markdown::front_matter(text);
    let plain = scan_from(text, from);
    let Some((around, inner)) = fence_around(text, from, plain.sections.is_empty()) else { return plain };
    let inner = scan_from(text.get(..inner.end).unwrap_or_default(), inner.start);
    match inner.sections.is_empty() {
        true => plain,
        false => Scan { around: Some(around), ..inner },
    }
}

fn scan_from(text: &str, from: usize) -> Scan {
    let mut scanner = Scanner::default();
    let mut lines = markdown::lines_from(text, from);
    for line in lines.by_ref() {
        if line.is_code { scanner.describe(line.text) } else { scanner.line(&line) }
    }
    scanner.scan.open_fence = lines.open_fence();
    scanner.scan
}

/// The line of a Markdown fence around a whole list, as chat programs put it there, and what stands in it. Around a list
/// that also has tasks outside of fences only one from the first line to the last.
fn fence_around(text: &str, from: usize, is_anywhere: bool) -> Option<(Range<usize>, Range<usize>)> {
    let lines = || markdown::lines_from(text, from).filter(|line| !line.text.trim().is_empty());
    let is_markdown = |line: &Line<'_>| {
        markdown::fence_info(line.text)
            .is_some_and(|info| ["markdown", "md"].contains(&info.to_lowercase().as_str()))
    };
    let is_bare = |line: &Line<'_>| markdown::fence_info(line.text) == Some("");
    // Mostly the first line tells that there is none.
    let opens = if is_anywhere { lines().find(is_markdown)? } else { lines().next().filter(is_markdown)? };
    let closes = lines().filter(|line| line.at > opens.at).filter(is_bare).last();
    let closes =
        closes.filter(|closes| is_anywhere || lines().last().is_some_and(|last| last.at == closes.at));
    match closes {
        Some(closes) => Some((opens.whole(), opens.end..closes.at)),
        None => is_anywhere.then(|| (opens.whole(), opens.end..text.len())),
    }
}

#[derive(Default)]
struct Scanner {
    scan: Scan,
    milestone: Option<Range<usize>>,
    in_task: bool,
    in_checklist: bool,
}

impl Scanner {
    fn line(&mut self, line: &Line<'_>) {
        if let Some(heading) = line::heading(line.text) {
            return self.heading(line, heading);
        }
        if !self.in_task {
            return;
        }
        let Some(section) = self.scan.sections.last_mut() else { return };
        if let (true, Some((tick, text))) = (self.in_checklist, line::item(line.text)) {
            section.items.push((line.span(tick), line.span(text)));
        } else if let Some((label, value)) = line::field(line.text) {
            self.field(line, label, value);
        } else if let Some(meta) = line::meta(line.text) {
            let is_certain = meta.is_certain(line.text);
            match &section.meta {
                None => section.meta = Some(meta.moved(line.at)),
                Some(_) if is_certain => {
                    section.second_meta.get_or_insert(line.whole());
                }
                Some(_) => self.describe(line.text),
            }
        } else {
            self.describe(line.text);
        }
    }

    fn heading(&mut self, line: &Line<'_>, heading: Heading) {
        match heading {
            Heading::Task { id, name } => {
                self.in_task = true;
                self.in_checklist = false;
                self.scan.sections.push(Section {
                    id: line.span(id),
                    name: line.span(name),
                    line: line.number,
                    milestone: self.milestone.clone(),
                    ..Section::default()
                });
            }
            Heading::Milestone(text) => {
                self.milestone = Some(line.span(text));
                self.in_task = false;
            }
            Heading::AlmostTask(text) => {
                self.scan.almost.push(line.span(text));
                self.in_task = false;
            }
            Heading::Other => self.in_task = false,
            Heading::Deeper => self.describe(line.text),
        }
    }

    fn field(&mut self, line: &Line<'_>, label: Range<usize>, value: Range<usize>) {
        self.in_checklist = false;
        let label = line.text.get(label).unwrap_or_default().to_lowercase();
        let Some(section) = self.scan.sections.last_mut() else { return };
        let list = match label.as_str() {
            "traces to" => &mut section.traces,
            "depends on" => &mut section.depends_on,
            "blocks" => &mut section.blocks,
            "description" => {
                let text = line.text.get(value).unwrap_or_default().to_owned();
                return self.describe(&text);
            }
            label if label == "checklist" || label.starts_with("tests") => return self.in_checklist = true,
            _ => return self.describe(line.text),
        };
        match line::list(line.text, value.clone()) {
            Some(spans) => list.extend(spans.into_iter().map(|span| line.span(span))),
            None => section.no_ids.push(line.span(value)),
        }
    }

    fn describe(&mut self, line: &str) {
        if !self.in_task {
            return;
        }
        if let Some(Section { description, .. }) = self.scan.sections.last_mut()
            && !(description.is_empty() && line.trim().is_empty())
        {
            description.push_str(line.trim_end());
            description.push('\n');
        }
    }
}

impl Meta {
    fn moved(self, at: usize) -> Self {
        let moved = |span: Range<usize>| span.start + at..span.end + at;
        Self {
            priority: moved(self.priority),
            sign: self.sign.map(moved),
            status: moved(self.status),
            estimate: self.estimate.map(moved),
        }
    }
}
