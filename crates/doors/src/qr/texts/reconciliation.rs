//! The answer of a reconciliation as text.

use crate::qr::Here;
use crate::qr::asking::Milestone;
use crate::qr::replies::{MilestoneStatus, Reconciled};
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;

pub fn next(here: &Here, outcome: Outcome, again: &str) -> String {
    match outcome {
        Outcome::Passed => "NEXT: Nothing is left to do. Every milestone is satisfied.".to_owned(),
        Outcome::NeedsWork => {
            format!("NEXT: Build what is missing, then reconcile again. Run: {}", here.command(again))
        }
        _ => format!("NEXT: Ask again. Run: {}", here.command(again)),
    }
}

pub fn complete(milestones: &[Milestone], outcome: Outcome, next: &str) -> String {
    let status = if outcome == Outcome::Passed { "PASS" } else { "FAIL" };
    let count = |wanted: MilestoneStatus| {
        let is = |milestone: &&Milestone| matches!(&milestone.found, Ok((found, _)) if *found == wanted);
        format!("{} {}", milestones.iter().filter(is).count(), wanted.word())
    };
    let counts =
        [MilestoneStatus::Yes, MilestoneStatus::Partially, MilestoneStatus::No].map(count).join(", ");
    let mut out = format!(
        "RECONCILIATION COMPLETE\n\nStatus: {status}\nMilestones: {} total, {counts}\n\n",
        milestones.len()
    );
    for Milestone { id, found } in milestones {
        match found {
            Ok((satisfied, criteria)) => {
                out.push_str(&format!("{id}: {}\n", satisfied.word()));
                criteria.iter().for_each(|criterion| out.push_str(&criterion_line(criterion)));
            }
            Err(failed) => {
                let detail = visible_line(&failed.detail);
                out.push_str(&format!("{id}: no verdict ({}): {detail}\n", failed.why.name()));
            }
        }
    }
    format!("{out}\n{next}\n")
}

fn criterion_line(criterion: &Reconciled) -> String {
    let Reconciled { criterion, met, evidence, note } = criterion;
    let met = if *met { "MET" } else { "NOT_MET" };
    let place = evidence.as_ref().map(|(path, line)| format!(" ({}:{line})", visible_line(path)));
    let note = note.as_deref().map(|note| format!(": {}", visible_line(note)));
    format!("- {met}: {}{}{}\n", visible_line(criterion), place.unwrap_or_default(), note.unwrap_or_default())
}
