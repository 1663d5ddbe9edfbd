//! Reads the workflows of a job: lists of its steps.

use super::order::Known;
use super::read::Reader;
use super::written::{WrittenEntry, WrittenWorkflow};
use super::{Job, Workflow};
use countersign_engine::yaml::{At, Diagnostic, Given, Named, quoted};
use std::collections::HashMap;
use std::ops::Range;

pub(super) fn workflows(
    reader: &mut Reader<'_>,
    written: &Given<Vec<At<WrittenWorkflow>>>,
    known: &Known<'_>,
) -> Vec<Workflow> {
    let mut names = Vec::new();
    let mut good = Vec::new();
    for at in written.items() {
        let Some(value) = &at.value else { continue };
        let name = reader.sink.name(value.name.as_ref(), ("this workflow", &at.span));
        names.extend(name.clone());
        good.extend(workflow(reader, name, value, &at.span, known));
    }
    reader.sink.unique("the workflow", str::to_owned, names.iter());
    good
}

/// The workflow of a job that defines none: all steps, in the order of the file.
pub(super) fn of_all_steps(job: &Job) -> Workflow {
    Workflow {
        name: job.name.clone(),
        summary: job.summary.clone(),
        entries: job.steps.iter().map(|step| vec![step.id.clone()]).collect(),
        agent: None,
    }
}

fn workflow(
    reader: &mut Reader<'_>,
    name: Option<Named>,
    written: &WrittenWorkflow,
    span: &Range<usize>,
    known: &Known<'_>,
) -> Option<Workflow> {
    let owner = ("this workflow", span);
    let summary = reader.summary(written.summary.as_ref(), owner);
    let agent = reader.optional_text(written.agent.0.as_ref(), "agent");
    let (list, list_span) = reader.sink.required(written.steps.as_ref(), "steps", owner)?;
    if list.is_empty() {
        let hint = "name the steps it goes through";
        reader.sink.report_with_hint("no-steps", list_span, "`steps` is empty", hint);
    }
    let entries = entries(reader, list, known);
    Some(Workflow { name: name?.name, summary: summary?, entries, agent })
}

fn entries(reader: &mut Reader<'_>, written: &[At<WrittenEntry>], known: &Known<'_>) -> Vec<Vec<String>> {
    let mut seen = HashMap::new();
    let mut entries = Vec::new();
    for at in written {
        match &at.value {
            None => {}
            Some(WrittenEntry::One(id)) => {
                check(reader, id, &at.span, known, &mut seen);
                entries.push(vec![id.clone()]);
            }
            Some(WrittenEntry::Together(ids)) => {
                if ids.is_empty() {
                    let hint = "name the steps that may run at the same time";
                    reader.sink.report_with_hint("no-steps", &at.span, "this entry names no step", hint);
                }
                let ids = ids.iter().filter_map(|at| Some((at.value.as_ref()?, &at.span)));
                entries.push(ids.clone().map(|(id, _)| id.clone()).collect());
                ids.for_each(|(id, span)| check(reader, id, span, known, &mut seen));
            }
        }
    }
    entries
}

fn check<'w>(
    reader: &mut Reader<'_>,
    id: &'w str,
    span: &'w Range<usize>,
    known: &Known<'_>,
    seen: &mut HashMap<&'w str, &'w Range<usize>>,
) {
    known.find(&mut reader.sink, id, span);
    let Some(first) = seen.get(id) else {
        seen.insert(id, span);
        return;
    };
    let message = format!("the workflow goes through {} twice", quoted(id));
    let problem = Diagnostic::new("duplicate-step", reader.sink.place(span), message)
        .with_hint("a step is done once in a workflow; keep one of the two")
        .with_related(reader.sink.place(first), "the first one");
    reader.sink.problems.push(problem);
}
