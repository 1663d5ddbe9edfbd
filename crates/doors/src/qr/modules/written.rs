//! Reads the file of a module: a module, or everything wrong with it.

use super::{Module, Template, When};
use crate::qr::{Phase, plan, severity};
use countersign_core::criterion::Severity;
use countersign_engine::yaml::{
    self, At, Diagnostic, Document, FileBytes, Given, List, Place, ProblemList, Problems, did_you_mean,
    quoted,
};
use serde::Deserialize;
use std::ops::Range;

const CHECK_CHARS_MAX: usize = 2000;
const LOOKS_AT_CHARS_MAX: usize = 20_000;
const CHECKS_MAX: usize = 200;
/// The `phase` of modules that are used after all phases.
const RECONCILIATION: &str = "reconciliation";
const HINT: &str = "`countersign help qr` describes every key of a module";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `name`, `phase`, `looks_at` and `checks`")]
struct WrittenModule {
    name: Option<At<String>>,
    phase: Option<At<String>>,
    looks_at: Option<At<String>>,
    checks: Option<List<WrittenTemplate>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a check, a mapping with `check` and `severity`")]
struct WrittenTemplate {
    check: Option<At<String>>,
    #[serde(default)]
    severity: Given<String>,
    #[serde(default)]
    each: Given<String>,
}

pub fn read(file: &FileBytes) -> Result<(Module, Place), Problems> {
    let Document { mut sink, start, is_empty, value } =
        yaml::read::<WrittenModule>(file).map_err(|problem| Problems::from(hinted(problem)))?;
    if is_empty {
        sink.report("empty", &(0..0), "the file is empty");
    }
    let module = value.and_then(|written| module(&mut sink, &written, &start));
    if let Some(problems) = Problems::of(sink.problems.iter().cloned().map(hinted).collect()) {
        return Err(problems);
    }
    match module {
        Some((module, name)) => Ok((module, sink.place(&name))),
        // A missing field is reported above. This arm fails closed where it is not.
        None => {
            Err(Diagnostic::new("unreadable", sink.place(&start), "the module cannot be understood").into())
        }
    }
}

fn hinted(mut problem: Diagnostic) -> Diagnostic {
    problem.hint.get_or_insert_with(|| HINT.to_owned());
    problem
}

fn module(
    sink: &mut ProblemList,
    written: &WrittenModule,
    start: &Range<usize>,
) -> Option<(Module, Range<usize>)> {
    let owner = ("the module", start);
    let name = sink.name(written.name.as_ref(), owner);
    let when = when(sink, written.phase.as_ref(), owner);
    let looks_at = text(sink, written.looks_at.as_ref(), "looks_at", owner, LOOKS_AT_CHARS_MAX);
    let listed = sink.required(written.checks.as_ref(), "checks", owner);
    if let Some((list, span)) = listed.filter(|(list, _)| list.is_empty() || list.len() > CHECKS_MAX) {
        let words = format!("a module has 1 to {CHECKS_MAX} checks, and this one has {}", list.len());
        sink.report("bad-checks", span, words);
    }
    let list = listed.map(|(list, _)| list.as_slice()).unwrap_or_default();
    let checks = list.iter().filter_map(|at| template(sink, at)).collect();
    let name = name?;
    Some((Module { name: name.name, when: when?, looks_at: looks_at?, checks }, name.span))
}

fn when(sink: &mut ProblemList, field: Option<&At<String>>, owner: (&str, &Range<usize>)) -> Option<When> {
    let (name, span) = sink.required(field, "phase", owner)?;
    if name == RECONCILIATION {
        return Some(When::Reconciliation);
    }
    let phase = Phase::named(name).map(When::Phase);
    if phase.is_none() {
        let known: Vec<&str> = Phase::ALL.iter().map(|phase| phase.name()).chain([RECONCILIATION]).collect();
        let message = format!("{} is no phase", quoted(name));
        sink.report_unknown("unknown-phase", (name, span), message, (&known, "the phases are"));
    }
    phase
}

fn template(sink: &mut ProblemList, at: &At<WrittenTemplate>) -> Option<Template> {
    let written = at.value.as_ref()?;
    let check = text(sink, written.check.as_ref(), "check", ("this check", &at.span), CHECK_CHARS_MAX);
    let severity = severity_of(sink, &written.severity);
    let each = each(sink, &written.each);
    Some(Template { check: check?, severity: severity?, each: each? })
}

fn severity_of(sink: &mut ProblemList, given: &Given<String>) -> Option<Severity> {
    let Some(At { span, value }) = &given.0 else { return Some(severity::DEFAULT) };
    severity::parse(value.as_ref()?).map_err(|message| sink.report("bad-severity", span, message)).ok()
}

fn each(sink: &mut ProblemList, given: &Given<String>) -> Option<Option<plan::Kind>> {
    let Some(At { span, value }) = &given.0 else { return Some(None) };
    let word = value.as_ref()?;
    let kind = plan::Kind::named(word);
    if kind.is_none() {
        let known = plan::Kind::ALL.map(plan::Kind::name);
        let hint = did_you_mean(word, &known, "the kinds are");
        sink.report_with_hint("bad-each", span, format!("unknown part of a plan: {}", quoted(word)), hint);
    }
    kind.map(Some)
}

fn text(
    sink: &mut ProblemList,
    field: Option<&At<String>>,
    key: &str,
    owner: (&str, &Range<usize>),
    chars_max: usize,
) -> Option<String> {
    let (text, span) = sink.required(field, key, owner)?;
    let problem = match text.trim() {
        "" => format!("`{key}` is empty"),
        long if long.chars().count() > chars_max => format!("`{key}` has more than {chars_max} characters"),
        good => return Some(good.to_owned()),
    };
    sink.report("bad-text", span, problem);
    None
}
