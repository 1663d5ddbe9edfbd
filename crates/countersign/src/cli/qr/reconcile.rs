//! `qr reconcile`: is what was planned there, milestone by milestone.

use super::Failure;
use super::arguments::ReconcileOptions;
use super::ask::{Asked, files};
use super::place::Place;
use crate::output::{Answer, Printer};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use countersign_doors::qr::Here;
use countersign_doors::qr::asking::{self, Milestone};
use countersign_doors::qr::material::Materials;
use countersign_doors::qr::replies::{Reconciled, Satisfied};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Asks about each milestone of the plan.
pub async fn run(
    place: &Place,
    options: &ReconcileOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    place.make_own()?;
    let asked = Asked::open(place, &super::arguments::AskOptions::default(), !options.print_prompt).await?;
    let root = &asked.engine.planner().root;
    let plan = asking::read(root, &files(place, std::slice::from_ref(&options.plan))?)?;
    let plan = Materials::new(plan).map_err(Failure::usage)?.plan;
    let built = asking::read(root, &files(place, &options.files)?)?;
    let built = Materials::new(built).map_err(Failure::usage)?;
    let asking = asked.about(&built);
    let again = format!("reconcile --plan {}", visible_line(&options.plan.to_string_lossy()));
    let here = place.here(place.phase()?);
    if options.print_prompt {
        let questions = asking.reconciliation(&plan.parts)?;
        let words: Vec<_> = questions.iter().map(|(_, one)| asked.engine.consultation_words(one)).collect();
        let all: Vec<_> = words.iter().map(|(system, payload)| format!("{system}\n{payload}")).collect();
        let json =
            words.iter().map(|(system, payload)| json!({ "system_prompt": system, "payload": payload }));
        let json = json!({ "prompts": json.collect::<Vec<Value>>() });
        return Ok(Answer::new(Outcome::Passed, all.join("\n\n") + "\n", json));
    }
    let work = asking.reconcile(&plan.parts, cancel);
    let milestones = printer.progress().during(&asked.engine, work).await?;
    let outcome = Outcome::worst(milestones.iter().map(Milestone::outcome)).unwrap_or(Outcome::NeedsWork);
    let text = text(&milestones, outcome, &next(&here, outcome, &again));
    let rows: Vec<Value> = milestones.iter().map(row).collect();
    let json = json!({ "milestones": rows, "next": next(&here, outcome, &again) });
    Ok(Answer::new(outcome, text, json))
}

fn next(here: &Here, outcome: Outcome, again: &str) -> String {
    match outcome {
        Outcome::Passed => "NEXT: Nothing is left to do. Every milestone is satisfied.".to_owned(),
        Outcome::NeedsWork => {
            format!("NEXT: Build what is missing, then reconcile again. Run: {}", here.command(again))
        }
        _ => format!("NEXT: Ask again. Run: {}", here.command(again)),
    }
}

fn text(milestones: &[Milestone], outcome: Outcome, next: &str) -> String {
    let status = if outcome == Outcome::Passed { "PASS" } else { "FAIL" };
    let count = |wanted: Satisfied| {
        let is = |milestone: &&Milestone| matches!(&milestone.found, Ok((found, _)) if *found == wanted);
        format!("{} {wanted}", milestones.iter().filter(is).count())
    };
    let counts = [Satisfied::Yes, Satisfied::Partially, Satisfied::No].map(count).join(", ");
    let mut out = format!(
        "RECONCILIATION COMPLETE\n\nStatus: {status}\nMilestones: {} total, {counts}\n\n",
        milestones.len()
    );
    for Milestone { id, found } in milestones {
        match found {
            Ok((satisfied, criteria)) => {
                out.push_str(&format!("{id}: {satisfied}\n"));
                criteria.iter().for_each(|criterion| out.push_str(&line(criterion)));
            }
            Err(failed) => {
                let detail = visible_line(&failed.detail);
                out.push_str(&format!("{id}: no verdict ({}): {detail}\n", failed.why.name()));
            }
        }
    }
    format!("{out}\n{next}\n")
}

fn line(criterion: &Reconciled) -> String {
    let Reconciled { criterion, met, evidence, note } = criterion;
    let met = if *met { "MET" } else { "NOT_MET" };
    let place = evidence.as_ref().map(|(path, line)| format!(" ({}:{line})", visible_line(path)));
    let note = note.as_deref().map(|note| format!(": {}", visible_line(note)));
    format!("- {met}: {}{}{}\n", visible_line(criterion), place.unwrap_or_default(), note.unwrap_or_default())
}

fn row(milestone: &Milestone) -> Value {
    let criterion = |one: &Reconciled| {
        json!({
            "criterion": one.criterion,
            "status": if one.met { "MET" } else { "NOT_MET" },
            "file": one.evidence.as_ref().map(|(path, _)| path),
            "line": one.evidence.as_ref().map(|(_, line)| line),
            "note": one.note,
        })
    };
    let (status, criteria, reason, detail) = match &milestone.found {
        Ok((satisfied, criteria)) => {
            (Some(satisfied.word()), criteria.iter().map(criterion).collect(), None, None)
        }
        Err(failed) => (None, vec![], Some(failed.why.name()), Some(&failed.detail)),
    };
    json!({ "id": milestone.id, "status": status, "criteria": criteria, "reason": reason, "detail": detail })
}
