//! `countersign review --dry-run`: each question as it would be asked, one at a time, asking nobody.

use super::Failure;
use crate::output::{Answer, Printer, assignment_json, bold, dim, write_out};
use countersign_app::project::Project;
use countersign_core::outcome::Outcome;
use countersign_core::plan::{Assignment, ReviewerKind};
use countersign_core::prompt::response_schema;
use countersign_core::text::visible_line;
use countersign_engine::engine::{Planner, Prepared, Preview};
use serde_json::{Map, Value, json};

/// Shows the plan.
pub async fn run(
    project: &Project,
    planner: &Planner,
    prepared: &Prepared,
    printer: &Printer,
    warnings: Vec<String>,
) -> Result<Answer, Failure> {
    printer.warn(&warnings);
    let ledger = project.existing_ledger().await?;
    let mut list = List::begin(printer, &warnings);
    let mut known = 0;
    for assignment in &prepared.plan.assignments {
        let preview = planner.preview(prepared, assignment, ledger.as_ref()).await?;
        known += usize::from(preview.known);
        // One question in memory at a time; a reader that is gone is no reason to go on.
        if !list.push(prepared, assignment, &preview) {
            break;
        }
    }
    let count = prepared.plan.assignments.len();
    list.end(&format!("{count} assignments, {known} known, {} would be asked\n", count - known));
    if let Some(ledger) = ledger {
        ledger.close().await;
    }
    let mut answer = Answer::new(Outcome::Passed, "", Value::Null);
    answer.printed = true;
    Ok(answer)
}

/// The answer, written as it grows.
struct List<'a> {
    printer: &'a Printer,
    pushed: usize,
}

impl<'a> List<'a> {
    fn begin(printer: &'a Printer, warnings: &[String]) -> Self {
        if printer.is_json() {
            let own: Map<String, Value> = Map::from_iter([("dry_run".to_owned(), json!(true))]);
            let object = printer.envelope(Outcome::Passed, &Value::Null, warnings, &own).to_string();
            let open = object.strip_suffix('}').unwrap_or(&object);
            write_out(&format!("{open},\"assignments\":["));
        }
        Self { printer, pushed: 0 }
    }

    fn push(&mut self, prepared: &Prepared, assignment: &Assignment, preview: &Preview) -> bool {
        self.pushed += 1;
        let checked =
            assignment.candidates.first().is_some_and(|candidate| candidate.kind == ReviewerKind::Checks);
        if !self.printer.is_json() {
            return write_out(&shown(prepared, assignment, preview, checked, self.pushed));
        }
        let mut value = assignment_json(&prepared.request.rules, assignment, &prepared.submission.files);
        value["timeout_seconds"] = json!(preview.timeout_seconds);
        // Our own checks are not asked in words.
        value["system_prompt"] = if checked { Value::Null } else { json!(preview.system_prompt) };
        value["payload"] = if checked { Value::Null } else { json!(preview.payload) };
        value["schema"] = if checked { Value::Null } else { response_schema() };
        value["known"] = json!(preview.known);
        let comma = if self.pushed > 1 { "," } else { "" };
        write_out(&format!("{comma}{value}"))
    }

    fn end(self, summary: &str) {
        write_out(if self.printer.is_json() { "]}\n" } else { summary });
    }
}

fn shown(prepared: &Prepared, assignment: &Assignment, preview: &Preview, checked: bool, n: usize) -> String {
    let rule = prepared.request.rules.get(assignment.rule).map_or("", |rule| rule.name.as_str());
    let reviewer = assignment.candidates.first().map_or("", |candidate| candidate.reviewer.as_str());
    let known = if preview.known { ", known" } else { "" };
    let title = format!("{n}. {rule}: {}", assignment.target_words());
    let about = format!("[{reviewer}, {} s{known}]", preview.timeout_seconds);
    let mut out = format!("{} {}\n", bold(&visible_line(&title)), dim(&visible_line(&about)));
    if checked {
        for criterion in assignment.asks(&prepared.request.rules) {
            out.push_str(&format!("   check {}\n", visible_line(&criterion.name)));
        }
        out.push('\n');
        return out;
    }
    out.push_str(&format!(
        "{}\n{}\n{}\n{}\n\n",
        dim("system prompt:"),
        preview.system_prompt,
        dim("payload:"),
        preview.payload
    ));
    out
}
