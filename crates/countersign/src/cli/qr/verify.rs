//! `qr verify`: every open or failed item that blocks, each by a review of its own.

use super::arguments::VerifyOptions;
use super::ask::Asked;
use super::decompose::prompt;
use super::place::Place;
use super::{Failure, json};
use crate::output::{Answer, Printer};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::asking::{Unruled, Verified};
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::{shell_word, words};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Verifies, or prints what a verifier is told.
pub async fn run(
    place: &Place,
    options: &VerifyOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    place.dir.require(phase)?;
    let asked = Asked::open(place, &options.ask, options.print_prompt.is_none()).await?;
    if let Some(id) = &options.print_prompt {
        let materials = asked.materials()?;
        let preview = asked.about(&materials).verifier_prompt(id).await?;
        let pass = place.here(phase).command(&format!("record {} PASS", shell_word(id)));
        let next = format!(
            "NEXT: Record your ruling, PASS or in its place FAIL --finding TEXT; no other word is one. Run: {pass}"
        );
        return Ok(prompt(&(preview.system_prompt, preview.payload), &next));
    }
    let verified = verify(&asked, &options.item, printer, cancel).await?;
    Ok(answer(place, &verified))
}

/// Verifies items, showing progress.
pub async fn verify(
    asked: &Asked,
    ids: &[String],
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Verified, Failure> {
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    Ok(printer.progress().during(&asked.engine, asking.verify(ids, cancel)).await?)
}

/// What was found out, in the document's form. Who was asked and did not rule is said beside it.
pub fn answer(place: &Place, verified: &Verified) -> Answer {
    let (state, policy) = (&verified.state, place.policy());
    let here = place.here(state.phase);
    let text = words::verification_complete(state, policy, &here);
    let mut json = json::state(state, policy, &here);
    json["verified"] = json!(verified.items - verified.unruled.len());
    json["unruled"] = Value::Array(verified.unruled.iter().map(row).collect());
    let warnings = verified.unruled.iter().map(words_of).collect();
    Answer { warnings, ..Answer::new(outcome(place, verified), text, json) }
}

/// The worst of what the gate says and how the reviews ended that have no ruling.
pub fn outcome(place: &Place, verified: &Verified) -> Outcome {
    let gated = gate(&verified.state, place.policy()).end.outcome();
    let unruled = verified.unruled.iter().map(|unruled| unruled.outcome);
    Outcome::worst(unruled.chain([gated])).unwrap_or(gated)
}

fn words_of(unruled: &Unruled) -> String {
    let why = unruled.outcome.reason().unwrap_or_else(|| unruled.outcome.name());
    format!("{} has no ruling ({why}): {}", unruled.id, unruled.detail)
}

fn row(unruled: &Unruled) -> Value {
    let Unruled { id, outcome, detail } = unruled;
    json!({ "id": id, "outcome": outcome.name(), "reason": outcome.reason(), "detail": detail })
}
