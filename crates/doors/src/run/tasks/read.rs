//! The values of tasks, and everything that is wrong with them.

use super::line::{is_estimate, is_id};
use super::scan::{Scan, Section, scan};
use super::{ChecklistItem, Priority, Status, Task, TaskList};
use crate::circles::circles;
use countersign_engine::yaml::{Diagnostic, MAX_PROBLEMS, Place, Problems, Source, did_you_mean, quoted};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The largest file: room for some fifty thousand tasks.
pub(in crate::run) const MAX_TASKS_BYTES: usize = 16 * 1024 * 1024;

const META_HINT: &str =
    "write `P0 | TODO` on a line of its own: P0 to P3, and TODO, IN_PROGRESS, REVIEW, DONE or BLOCKED";

#[derive(Debug)]
pub struct Reading {
    /// The tasks that could be read; all of them where there are no `problems`.
    pub list: TaskList,
    pub problems: Option<Problems>,
    /// What is allowed and probably a mistake.
    pub warnings: Vec<Diagnostic>,
}

impl Reading {
    pub fn valid(self) -> Result<(TaskList, Vec<Diagnostic>), Problems> {
        self.problems.map_or(Ok((self.list, self.warnings)), Err)
    }
}

pub fn parse(source: &Arc<Source>) -> Reading {
    let Scan { sections, almost, open_fence, around } = scan(source.text());
    let prefixes =
        sections.iter().filter_map(|section| source.text().get(section.id.clone())).map(prefix).collect();
    let mut reader = Reader { source, prefixes, problems: vec![], warnings: vec![] };
    for span in almost {
        let hint = "a task begins with `### TASK-001: Name`";
        reader.warn("almost-a-task", &span, "this heading has a task id but does not start a task", hint);
    }
    if let Some(span) = around {
        let hint = "remove this line and the one that closes the fence";
        reader.warn("fenced-list", &span, "the whole list is in a code fence and is read without it", hint);
    }
    if sections.is_empty() {
        let hint = "a task begins with `### TASK-001: Name`";
        reader.warn("no-tasks", &(0..0), "this list has no tasks", hint);
    }
    if let Some(span) = open_fence {
        let hint = "close it with the same characters on their own line; until then everything below is code";
        reader.wrong("open-fence", &span, "this code fence is never closed", hint);
    }
    reader.unique_ids(&sections);
    reader.references(&sections);
    let tasks: Vec<_> = sections.iter().filter_map(|section| reader.task(section)).collect();
    let list = TaskList::new(tasks);
    reader.circles(&sections, &list);
    let Reader { problems, mut warnings, .. } = reader;
    warnings.sort_by_key(|warning| warning.place.span().start);
    Reading { list, problems: Problems::of(problems), warnings }
}

fn prefix(id: &str) -> &str {
    id.rsplit_once('-').map_or("", |(prefix, _)| prefix)
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    prefixes: HashSet<&'s str>,
    problems: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn text(&self, span: &Range<usize>) -> &str {
        self.source.text().get(span.clone()).unwrap_or_default()
    }

    /// Whether this is an id with another prefix than all tasks: a requirement, say.
    fn is_foreign(&self, id: &str) -> bool {
        is_id(id) && !self.prefixes.contains(prefix(id))
    }

    fn problem(&self, code: &'static str, span: &Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Place::new(self.source, span.clone()), message)
    }

    fn wrong(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>, hint: &str) {
        let problem = self.problem(code, span, message).with_hint(hint);
        self.problems.push(problem);
    }

    fn warn(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>, hint: &str) {
        let warning = self.problem(code, span, message).with_hint(hint);
        self.warnings.push(warning);
    }

    fn task(&mut self, section: &Section) -> Option<Task> {
        let (priority, status, estimate) = self.meta(section)?;
        let traces = section.traces.iter().map(|span| self.text(span).to_owned());
        let tasks = section.depends_on.iter().map(|span| self.text(span));
        let items = section.items.iter().map(|(tick, text)| ChecklistItem {
            text: self.text(text).to_owned(),
            done: self.text(tick) != " ",
        });
        Some(Task {
            id: self.text(&section.id).to_owned(),
            name: self.text(&section.name).to_owned(),
            priority,
            status,
            estimate,
            checklist: items.collect(),
            traces: traces.collect(),
            depends_on: tasks.filter(|id| !self.is_foreign(id)).map(str::to_owned).collect(),
            milestone: section.milestone.as_ref().map(|span| self.text(span).to_owned()),
            description: section.description.trim_end().to_owned(),
            line: section.line,
        })
    }

    fn meta(&mut self, section: &Section) -> Option<(Priority, Status, Option<String>)> {
        if let Some(second) = &section.second_meta {
            let message =
                format!("{} has a second line with priority and status", quoted(self.text(&section.id)));
            self.wrong("second-meta", second, message, "keep one of the two");
        }
        let Some(meta) = &section.meta else {
            let message = format!("{} has no line with priority and status", quoted(self.text(&section.id)));
            self.wrong("no-meta", &section.id, message, META_HINT);
            return None;
        };
        let words = [&meta.priority, &meta.status].map(|span| self.text(span).to_owned());
        let [priority, status] = &words;
        let known_priority = Priority::of(priority);
        if known_priority.is_none() {
            let message = format!("{} is not a valid priority", quoted(priority));
            let hint = "the priorities are `P0`, `P1`, `P2` and `P3`";
            self.wrong("bad-priority", &meta.priority, message, hint);
        }
        let known_status = Status::of(status);
        match known_status {
            Some(_) => {}
            None if status.is_empty() => {
                self.wrong("bad-status", &meta.status, "the status is missing", META_HINT);
            }
            None => {
                let hint =
                    did_you_mean(&status.to_uppercase(), &Status::ALL.map(Status::word), "the statuses are");
                self.wrong("bad-status", &meta.status, format!("{} is no status", quoted(status)), &hint);
            }
        }
        let estimate = meta.estimate.as_ref().and_then(|span| self.estimate(span));
        Some((known_priority?, known_status?, estimate))
    }

    /// An estimate is for people: one that is not understood is kept as it is written.
    fn estimate(&mut self, span: &Range<usize>) -> Option<String> {
        let text = self.text(span).to_owned();
        if text == "—" {
            return None;
        }
        if !is_estimate(&text) {
            let message = match text.as_str() {
                "" => "the estimate is missing".to_owned(),
                _ => format!("{} is no estimate", quoted(&text)),
            };
            self.warn("bad-estimate", span, message, "days or hours, such as `2-3d`, `4h` or `0.5d`");
        }
        Some(text).filter(|text| !text.is_empty())
    }

    fn unique_ids(&mut self, sections: &[Section]) {
        let mut first: HashMap<String, &Section> = HashMap::new();
        for section in sections {
            let id = self.text(&section.id).to_owned();
            let Some(other) = first.get(&id) else {
                first.insert(id, section);
                continue;
            };
            let message = format!("the id {} is already used on line {}", quoted(&id), other.line);
            let other = Place::new(self.source, other.id.clone());
            let problem = self.problem("duplicate-id", &section.id, message);
            let problem = problem.with_related(other, "the first one");
            self.problems.push(problem.with_hint("give one of them another id"));
        }
    }

    /// Checks the ids in lists. `[REQ-001]` among dependencies is a remark where no task has its prefix.
    fn references(&mut self, sections: &[Section]) {
        let source = self.source;
        let text = |span: &Range<usize>| source.text().get(span.clone()).unwrap_or_default();
        let known: Vec<&str> = sections.iter().map(|section| text(&section.id)).collect();
        let ids: HashSet<&str> = known.iter().copied().collect();
        for section in sections {
            for span in &section.no_ids {
                let hint = "name tasks as `[TASK-001], [TASK-002]`, or write `—` for none";
                self.warn("no-ids", span, "this list has no task ids", hint);
            }
            let lists = [(&section.depends_on, "depends on"), (&section.blocks, "blocks")];
            for (spans, does) in lists {
                for span in spans.iter().filter(|span| !ids.contains(text(span))) {
                    let other = text(span);
                    if self.is_foreign(other) {
                        let message = format!("{} is not a task of this file and is ignored", quoted(other));
                        self.warn("foreign-id", span, message, "requirements belong under `**Traces to:**`");
                        continue;
                    }
                    let message =
                        format!("{} {does} {}, which does not exist", text(&section.id), quoted(other));
                    if does == "blocks" {
                        // For readers alone: no task waits for it.
                        self.warn("unknown-task", span, message, "name a task of this file");
                        continue;
                    }
                    // Comparing takes time, and problems beyond this number are not shown.
                    let hint = match self.problems.len() < MAX_PROBLEMS {
                        true => did_you_mean(other, &known, "the tasks are"),
                        false => "name a task of this file".to_owned(),
                    };
                    self.wrong("unknown-task", span, message, &hint);
                }
            }
        }
    }

    fn circles(&mut self, sections: &[Section], list: &TaskList) {
        let places = |task: &Task| task.depends_on.iter().filter_map(|id| list.place_of(id)).collect();
        let dependencies: Vec<Vec<usize>> = list.tasks().iter().map(places).collect();
        for circle in circles(&dependencies, MAX_PROBLEMS + 1) {
            let names: Vec<_> = circle.iter().filter_map(|place| list.tasks().get(*place)).collect();
            let (Some(first), Some(last)) = (names.first(), names.last()) else { continue };
            let ids: Vec<&str> = names.iter().map(|task| task.id.as_str()).collect();
            let message = match ids.as_slice() {
                [alone] => format!("{alone} depends on itself"),
                several => format!("these tasks wait for each other: {} → {}", several.join(" → "), first.id),
            };
            // The place is the dependency that closes the circle.
            let closing = sections.iter().find(|section| section.line == last.line);
            let span = closing.and_then(|section| {
                section.depends_on.iter().find(|span| self.text(span) == first.id).cloned()
            });
            self.wrong("circle", &span.unwrap_or_default(), message, "remove one of these dependencies");
        }
    }
}
