//! The values of a plan, and everything that is wrong with it.

use super::super::task::TaskStatus;
use super::ReviewBlock;
use super::scan::{Block, Entry, Scan, scan};
use countersign_core::answer::ReviewResult;
use countersign_engine::yaml::{Diagnostic, Place, Problems, Source, did_you_mean, quoted};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTask {
    /// The number of its phase and its own, as in `1.2`.
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    pub scope: Option<String>,
    pub acceptance: Option<String>,
    pub review: Option<ReviewBlock>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub tasks: Vec<PlanTask>,
}

impl Plan {
    pub fn find(&self, typed: &str) -> Option<&PlanTask> {
        let by_title = |task: &&PlanTask| folded(&task.title) == folded(typed);
        self.tasks.iter().find(|task| task.id == typed).or_else(|| self.tasks.iter().find(by_title))
    }
}

#[derive(Debug)]
pub struct Reading {
    pub plan: Plan,
    pub problems: Vec<Diagnostic>,
    /// What looks like a phase or a task and is none, or belongs elsewhere than it looks. One for each kind.
    pub warnings: Vec<Diagnostic>,
}

impl Reading {
    pub fn valid(self) -> Result<Plan, Problems> {
        Problems::of(self.problems).map_or(Ok(self.plan), Err)
    }
}

/// A title without differences in case and white space.
pub(in crate::service) fn folded(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

pub fn parse(source: &Arc<Source>) -> Reading {
    let scan = scan(source.text());
    let mut reader = Reader { source, problems: vec![] };
    let has = |is: fn(&Entry) -> bool| scan.entries.iter().any(is);
    // Another file may have the name of a plan.
    let plan = if has(Entry::is_task) { reader.plan(&scan) } else { Plan::default() };
    let warnings = if has(|entry| entry.status.is_some()) { reader.warnings(&scan) } else { vec![] };
    Reading { plan, problems: reader.problems, warnings }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn text(&self, span: &Range<usize>) -> &str {
        self.source.text().get(span.clone()).unwrap_or_default()
    }

    fn place(&self, span: &Range<usize>) -> Place {
        Place::new(self.source, span.clone())
    }

    fn wrong(&mut self, code: &'static str, span: &Range<usize>, message: String, hint: &str) {
        self.problems.push(Diagnostic::new(code, self.place(span), message).with_hint(hint));
    }

    fn duplicate(&mut self, code: &'static str, spans: [&Range<usize>; 2], message: String, hint: &str) {
        let [second, first] = spans.map(|span| self.place(span));
        let problem = Diagnostic::new(code, second, message).with_related(first, "the first one");
        self.problems.push(problem.with_hint(hint));
    }

    fn plan(&mut self, scan: &Scan) -> Plan {
        if let Some(span) = &scan.open_fence {
            let message = "this code fence is never closed".to_owned();
            self.wrong("open-fence", span, message, "close it; until then the tasks below it are ignored");
        }
        let numbers = self.numbers(&scan.phases);
        let mut counts: HashMap<usize, u32> = HashMap::new();
        let mut ids: Vec<(&Entry, String)> = vec![];
        for entry in scan.entries.iter().filter(|entry| entry.is_task()) {
            let phase = entry.phase.unwrap_or_default();
            let count = counts.entry(phase).or_default();
            *count += 1;
            let number = numbers.get(phase).copied().unwrap_or_default();
            ids.push((entry, format!("{number}.{count}")));
        }
        self.unique_titles(scan);
        let known: Vec<&str> = ids.iter().map(|(_, id)| id.as_str()).collect();
        let tasks = ids.iter().filter_map(|(entry, id)| self.task(entry, id, &known)).collect();
        Plan { tasks }
    }

    /// What is read otherwise than it may be meant: only `### Phase N: Title` begins a phase, only the next one ends it,
    /// and a box is a task only with a status.
    fn warnings(&self, scan: &Scan) -> Vec<Diagnostic> {
        let entries = |is: fn(&Entry) -> bool| scan.entries.iter().filter(move |entry| is(entry));
        let titles = |is| entries(is).map(|entry| entry.title.clone()).collect::<Vec<_>>();
        let below = entries(|entry| entry.is_task() && entry.heading.is_some());
        let kinds = [
            (
                ("bad-phase", "does not begin a phase, so tasks below it belong to the phase above"),
                scan.almost.clone(),
                "write `### Phase 1: Title`",
            ),
            (
                ("no-status", "has no status, so it is no task"),
                titles(|entry| entry.status.is_none()),
                "write `[pending]` in backticks after the title",
            ),
            (
                ("no-phase", "is before the first phase, so it is no task"),
                titles(|entry| entry.status.is_some() && entry.phase.is_none()),
                "put it below a heading such as `### Phase 1: Title`",
            ),
            (
                ("other-heading", "belongs to the phase above: the heading between does not end the phase"),
                below.map(|entry| entry.title.clone()).collect(),
                "begin another phase there, or put the task above the heading",
            ),
        ];
        kinds.into_iter().filter_map(|(what, spans, hint)| self.warning(what, &spans, hint)).collect()
    }

    /// One warning at the first of some places, with the number of the others.
    fn warning(
        &self,
        (code, what): (&'static str, &str),
        spans: &[Range<usize>],
        hint: &str,
    ) -> Option<Diagnostic> {
        let first = spans.first()?;
        let more = match spans.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more like it)"),
        };
        let message = format!("{} {what}{more}", quoted(self.text(first)));
        Some(Diagnostic::new(code, self.place(first), message).with_hint(hint))
    }

    /// The numbers of the phases, which must be unique.
    fn numbers(&mut self, phases: &[Range<usize>]) -> Vec<u32> {
        let mut seen = HashMap::new();
        let mut numbers = vec![];
        for span in phases {
            let written = self.text(span).to_owned();
            let number = written.parse().unwrap_or(0);
            if number == 0 {
                let message = format!("{} is not a phase number", quoted(&written));
                self.wrong("bad-phase", span, message, "phases are numbered from 1");
            } else if let Some(other) = seen.insert(number, span) {
                let message = format!("phase {number} already exists");
                self.duplicate("duplicate-phase", [span, other], message, "give it another number");
            }
            numbers.push(number);
        }
        numbers
    }

    /// Titles must be unique, because reviews belong to titles: ids change when a line is added.
    fn unique_titles(&mut self, scan: &Scan) {
        let mut seen: HashMap<String, &Entry> = HashMap::new();
        for entry in scan.entries.iter().filter(|entry| entry.is_task()) {
            let title = self.text(&entry.title).to_owned();
            let Some(other) = seen.get(&folded(&title)) else {
                seen.insert(folded(&title), entry);
                continue;
            };
            let message = format!("two tasks have the title {}", quoted(&title));
            let hint = "give one of them another title: reviews belong to titles";
            self.duplicate("duplicate-title", [&entry.title, &other.title], message, hint);
        }
    }

    fn task(&mut self, entry: &Entry, id: &str, known: &[&str]) -> Option<PlanTask> {
        let status = self.status(entry);
        for (first, (label, span, _)) in entry.fields.iter().enumerate() {
            if entry.fields[..first].iter().any(|(other, ..)| other == label) {
                let message = format!("{id} has `{label}` twice");
                self.wrong("duplicate-field", span, message, "keep one of the two");
            }
        }
        let field = |wanted: &str| {
            let found = entry.fields.iter().find(|(label, ..)| *label == wanted);
            found.map(|(.., text)| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let depends = entry.fields.iter().find(|(label, ..)| *label == "Depends");
        if let Some((_, span, text)) = depends {
            self.depends(id, span, text, known);
        }
        let review = entry.review.as_ref().and_then(|block| self.review(block));
        Some(PlanTask {
            id: id.to_owned(),
            title: self.text(&entry.title).to_owned(),
            status: status?,
            scope: field("Scope"),
            acceptance: field("Acceptance"),
            review,
        })
    }

    fn status(&mut self, entry: &Entry) -> Option<TaskStatus> {
        let span = entry.status.as_ref()?;
        let word = self.text(span).to_owned();
        let status = TaskStatus::of(&word);
        if status.is_none() {
            let known = TaskStatus::ALL.map(TaskStatus::word);
            let hint = did_you_mean(&word.to_lowercase(), &known, "the statuses are");
            self.wrong("bad-status", span, format!("{} is no status", quoted(&word)), &hint);
        }
        status
    }

    /// Checks the ids in a list of dependencies; other words are remarks.
    fn depends(&mut self, id: &str, span: &Range<usize>, text: &str, known: &[&str]) {
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '`'));
        for word in words.filter(|word| super::is_planned_id(word)) {
            let message = match known.contains(&word) {
                true if word == id => format!("{id} depends on itself"),
                true => continue,
                false => format!("{id} depends on {}, which does not exist", quoted(word)),
            };
            let hint = did_you_mean(word, known, "the tasks are");
            self.wrong("unknown-task", span, message, &hint);
        }
    }

    fn review(&mut self, block: &Block) -> Option<ReviewBlock> {
        let field = |wanted: &str| block.fields.iter().find(|(label, ..)| *label == wanted);
        let attempt = field("Attempt").map(|(_, span, text)| (span, text.parse::<u32>().ok()));
        if let Some((span, None)) = attempt {
            let message = format!("{} is not an attempt number", quoted(self.text(span)));
            self.wrong("bad-attempt", span, message, "attempts are numbered from 1");
        }
        let result = field("Last Result").map(|(_, span, text)| (span, ReviewResult::of(text)));
        if let Some((span, None)) = result {
            let message = format!("{} is not a review result", quoted(self.text(span)));
            let hint = "the results are `pending`, `approved`, `needs_revision` and `rejected`";
            self.wrong("bad-result", span, message, hint);
        }
        Some(ReviewBlock {
            attempt: attempt?.1?,
            last_result: result?.1?,
            issues: block.issues.clone(),
            reviewed_at: field("Reviewed At").map(|(.., text)| text.clone()).unwrap_or_default(),
        })
    }
}
