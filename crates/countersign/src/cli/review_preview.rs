//! `countersign review --dry-run`: each question as it would be asked, one at a time; no reviewer is asked.

use super::Failure;
use crate::output::{Answer, Printer, bold, dim, json_line, write_out};
use countersign_app::answer::v1::{self, Preview, Question};
use countersign_app::project::Project;
use countersign_app::review::question;
use countersign_core::text::{counted, visible_line};
use countersign_engine::engine::{Planner, Prepared};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub async fn run(
    project: &Project,
    planner: &Planner,
    prepared: &Prepared,
    printer: &Printer,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    printer.warn(&warnings);
    let ledger = project.existing_ledger().await?;
    let mut list = List::begin(printer, warnings);
    let mut totals = Totals::default();
    for assignment in &prepared.plan.assignments {
        let question = question(planner, prepared, assignment, ledger.as_ref()).await?;
        totals.add(&question);
        // One question in memory at a time; stops when the reader of the output is gone.
        if !list.push(&question) {
            break;
        }
    }
    list.end(&totals.words());
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    Ok(Answer::silent())
}

/// How many assignments are free checks, questions for each reviewer, or cached.
#[derive(Default)]
struct Totals {
    checks: usize,
    questions: BTreeMap<String, usize>,
    cached: usize,
}

impl Totals {
    fn add(&mut self, question: &Question) {
        match (&question.payload, &question.planned.reviewer) {
            _ if question.known => self.cached += 1,
            (Some(_), Some(reviewer)) => *self.questions.entry(reviewer.clone()).or_default() += 1,
            _ => self.checks += 1,
        }
    }

    fn words(&self) -> String {
        let asked = self.questions.iter().map(|(reviewer, count)| {
            format!("{} for {}", counted(*count, "question", "questions"), visible_line(reviewer))
        });
        let checks = counted(self.checks, "free check", "free checks");
        let parts: Vec<String> = std::iter::once(checks).chain(asked).collect();
        format!("{}, {} cached\n", parts.join(", "), self.cached)
    }
}

/// The answer, written as it grows.
struct List<'a> {
    printer: &'a Printer,
    pushed: usize,
}

impl<'a> List<'a> {
    fn begin(printer: &'a Printer, warnings: Vec<String>) -> Self {
        if printer.json() {
            let none = Preview { dry_run: true, assignments: vec![] };
            let mut object = json!(v1::Answer::passed(none).warned(warnings).of(printer.command));
            if let Value::Object(map) = &mut object {
                map.remove("assignments");
            }
            let object = json_line(object);
            let open = object.strip_suffix("}\n").unwrap_or(&object);
            write_out(&format!("{open},\"assignments\":["));
        }
        Self { printer, pushed: 0 }
    }

    fn push(&mut self, question: &Question) -> bool {
        self.pushed += 1;
        if !self.printer.json() {
            return write_out(&shown(question, self.pushed));
        }
        let comma = if self.pushed > 1 { "," } else { "" };
        write_out(&format!("{comma}{}", json_line(question).trim_end()))
    }

    fn end(self, summary: &str) {
        write_out(if self.printer.json() { "]}\n" } else { summary });
    }
}

fn shown(question: &Question, n: usize) -> String {
    let planned = &question.planned;
    let known = if question.known { ", cached" } else { "" };
    let title = format!("{n}. {}: {}", planned.rule.as_deref().unwrap_or_default(), planned.target);
    let reviewer = planned.reviewer.as_deref().unwrap_or_default();
    let about = format!("[{reviewer}, {} s{known}]", question.timeout_seconds);
    let mut out = format!("{} {}\n", bold(&visible_line(&title)), dim(&visible_line(&about)));
    match (&question.system_prompt, &question.payload) {
        (Some(system_prompt), Some(payload)) => {
            let (system, asked) = (dim("system prompt:"), dim("payload:"));
            out.push_str(&format!("{system}\n{system_prompt}\n{asked}\n{payload}\n\n"));
        }
        // Built-in checks have no prompt.
        _ => {
            out.extend(planned.criteria.iter().map(|name| format!("   check {}\n", visible_line(name))));
            out.push('\n');
        }
    }
    out
}
