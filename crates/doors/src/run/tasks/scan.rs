//! The text as tasks that know their bytes, without asking what they mean. Reading and editing both begin here,
//! so they cannot disagree on where a task is.

use super::line::{self, Heading, Meta, Named};
use countersign_core::markdown::{self, Line};
use std::ops::Range;

/// A task as it is written. All spans are bytes of the text.
#[derive(Debug)]
pub(super) struct Section {
    pub id: Range<usize>,
    pub name: Range<usize>,
    /// The line of its header, from 1.
    pub line: usize,
    pub milestone: Option<Range<usize>>,
    pub meta: Option<Meta>,
    /// A second line that can be nothing but a meta line.
    pub second_meta: Option<Range<usize>>,
    pub items: Vec<Item>,
    pub traces: Vec<Range<usize>>,
    pub depends_on: Vec<Range<usize>>,
    pub blocks: Vec<Range<usize>>,
    /// Lists that say something and name nothing.
    pub no_ids: Vec<Range<usize>>,
    pub description: String,
}

/// A box of a checklist.
#[derive(Debug)]
pub(super) struct Item {
    /// The one byte between its brackets.
    pub tick: Range<usize>,
    pub text: Range<usize>,
    pub is_test: bool,
    pub line: usize,
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub sections: Vec<Section>,
    /// Headings that name a task and begin none.
    pub almost: Vec<Range<usize>>,
    /// A code fence that nobody closed.
    pub open_fence: Option<Range<usize>>,
}

/// Finds the tasks of a text that has no byte order mark.
pub(super) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner { scan: Scan::default(), milestone: None, in_task: false, part: Part::Text };
    let mut lines = markdown::lines_from(text, markdown::front_matter(text));
    for line in lines.by_ref() {
        match line.is_code {
            true => scanner.describe(line.text),
            false => scanner.line(&line),
        }
    }
    scanner.scan.open_fence = lines.open_fence();
    scanner.scan
}

/// Where in a task we are.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Text,
    Checklist { is_test: bool },
}

struct Scanner {
    scan: Scan,
    milestone: Option<Range<usize>>,
    in_task: bool,
    part: Part,
}

impl Scanner {
    fn line(&mut self, line: &Line<'_>) {
        if let Some(heading) = line::heading(line.text) {
            return self.heading(line, heading);
        }
        if !self.in_task {
            return;
        }
        let part = self.part;
        let Some(section) = self.scan.sections.last_mut() else { return };
        if let (Part::Checklist { is_test }, Some((tick, text))) = (part, line::item(line.text)) {
            let (tick, text) = (line.span(tick), line.span(text));
            section.items.push(Item { tick, text, is_test, line: line.number });
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
                self.part = Part::Text;
                let (id, name) = (line.span(id), line.span(name));
                self.scan.sections.push(Section::new(id, name, line.number, self.milestone.clone()));
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
        self.part = Part::Text;
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
            "checklist" => return self.part = Part::Checklist { is_test: false },
            tests if tests.starts_with("tests") => return self.part = Part::Checklist { is_test: true },
            _ => return self.describe(line.text),
        };
        match line::list(line.text, value.clone()) {
            Named::These(spans) => list.extend(spans.into_iter().map(|span| line.span(span))),
            Named::Words => section.no_ids.push(line.span(value)),
        }
    }

    /// Keeps a line for those who are told about the task.
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

impl Section {
    fn new(id: Range<usize>, name: Range<usize>, line: usize, milestone: Option<Range<usize>>) -> Self {
        let (meta, second_meta, description) = (None, None, String::new());
        let (items, traces, depends_on, blocks, no_ids) = (vec![], vec![], vec![], vec![], vec![]);
        Self {
            id,
            name,
            line,
            milestone,
            meta,
            second_meta,
            items,
            traces,
            depends_on,
            blocks,
            no_ids,
            description,
        }
    }
}

impl Meta {
    /// The same counted from the beginning of the text.
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
