//! Checks the dependencies of steps: they exist, and there is no cycle.

use super::written::WrittenStep;
use crate::circles::circles;
use countersign_engine::yaml::{At, MAX_PROBLEMS, Named, ProblemList, quoted};
use std::collections::HashMap;
use std::ops::Range;

const MAX_NAMED: usize = 12;

/// The ids of all steps, also of invalid ones.
pub(super) struct Known<'w> {
    ids: Vec<&'w str>,
    by_id: HashMap<&'w str, usize>,
    /// Whether every step has an id; if not, an unknown id is not reported.
    all: bool,
}

impl<'w> Known<'w> {
    pub fn new(steps: &'w [At<WrittenStep>]) -> Self {
        let id = |at: &'w At<WrittenStep>| at.value.as_ref()?.id.as_ref()?.value.as_deref();
        let mut known = Self { ids: Vec::new(), by_id: HashMap::new(), all: !steps.is_empty() };
        for (i, step) in steps.iter().enumerate() {
            match id(step) {
                None => known.all = false,
                Some(id) if known.by_id.contains_key(id) => {}
                Some(id) => {
                    known.by_id.insert(id, i);
                    known.ids.push(id);
                }
            }
        }
        known
    }

    /// The index of a step; an unknown id is reported.
    pub fn find(&self, sink: &mut ProblemList, id: &str, span: &Range<usize>) -> Option<usize> {
        let found = self.by_id.get(id).copied();
        if found.is_none() && self.all {
            let message = format!("no step has the id {}", quoted(id));
            sink.report_unknown("unknown-step", (id, span), message, (&self.ids, "steps of this job"));
        }
        found
    }
}

pub(super) fn check(sink: &mut ProblemList, steps: &[At<WrittenStep>], known: &Known<'_>) {
    let named = |at: &At<WrittenStep>| {
        let id = at.value.as_ref()?.id.as_ref()?;
        Some(Named { name: id.value.clone()?, span: id.span.clone() })
    };
    let names: Vec<Named> = steps.iter().filter_map(named).collect();
    sink.unique("the step", str::to_owned, names.iter());
    let needs: Vec<Vec<Need>> = steps.iter().map(|step| needs(sink, step, known)).collect();
    let dependencies: Vec<Vec<usize>> =
        needs.iter().map(|needs| needs.iter().map(|need| need.step).collect()).collect();
    for circle in circles(&dependencies, MAX_PROBLEMS) {
        report(sink, steps, &needs, &circle);
    }
}

struct Need {
    step: usize,
    span: Range<usize>,
}

fn needs(sink: &mut ProblemList, at: &At<WrittenStep>, known: &Known<'_>) -> Vec<Need> {
    let Some(step) = &at.value else { return Vec::new() };
    let listed = step.dependencies.items().iter();
    let is_empty = |at: &&At<String>| at.value.as_deref().is_some_and(|id| id.trim().is_empty());
    for at in listed.clone().filter(is_empty) {
        let hint = "name the step that comes first, or remove this entry";
        sink.report_with_hint("empty", &at.span, "this dependency is empty", hint);
    }
    let inputs = step.inputs.items().iter();
    let from = inputs.filter_map(|at| at.value.as_ref()?.from_step.0.as_ref());
    let mut needs: Vec<Need> = Vec::new();
    for at in listed.chain(from) {
        let Some(id) = at.value.as_deref().filter(|id| !id.trim().is_empty()) else { continue };
        let Some(step) = known.find(sink, id, &at.span) else { continue };
        if !needs.iter().any(|need| need.step == step) {
            needs.push(Need { step, span: at.span.clone() });
        }
    }
    needs
}

fn report(sink: &mut ProblemList, steps: &[At<WrittenStep>], needs: &[Vec<Need>], circle: &[usize]) {
    let id = |step: usize| {
        let id = steps.get(step).and_then(|at| at.value.as_ref()?.id.as_ref()?.value.as_deref());
        quoted(id.unwrap_or_default())
    };
    let (Some(first), Some(last)) = (circle.first(), circle.last()) else { return };
    let message = match circle.len() {
        1 => format!("the step {} needs itself", id(*first)),
        _ => {
            let named = circle.iter().take(MAX_NAMED).map(|step| id(*step));
            let more = (circle.len() > MAX_NAMED).then(|| "…".to_owned());
            let names: Vec<String> = named.chain(more).chain([id(*first)]).collect();
            format!("these steps need each other: {}", names.join(" → "))
        }
    };
    // The place is the dependency that closes the circle.
    let closing = needs.get(*last).and_then(|needs| needs.iter().find(|need| need.step == *first));
    let span = closing.map(|need| need.span.clone()).unwrap_or_default();
    sink.report_with_hint("cycle", &span, message, "remove one of these dependencies");
}
