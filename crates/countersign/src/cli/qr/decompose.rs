//! `qr decompose` by a reviewer, or the prompt for those who think themselves.

use super::arguments::DecomposeOptions;
use super::ask::Asked;
use super::place::Place;
use super::{Failure, change, json};
use crate::output::{Answer, Printer};
use countersign_app::author::actor;
use countersign_core::outcome::Outcome;
use countersign_core::review::{Actor, ActorKind, Channel};
use countersign_doors::qr::{QrError, State, given, words};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Makes items: from the caller, from a reviewer, or not at all where only the prompt is wanted.
pub async fn run(
    place: &Place,
    options: &DecomposeOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    if let Some(items) = &options.items {
        if !options.ask.artifact.is_empty() {
            // Kept in mind for whoever verifies.
            Asked::open(place, &options.ask, false).await?;
        }
        return change::decompose(place, items, options.again).await;
    }
    let asked = Asked::open(place, &options.ask, !options.print_prompt).await?;
    if options.print_prompt {
        let materials = asked.materials()?;
        let question = asked.about(&materials).decomposition()?;
        let next = place.here(phase).command("decompose --items FILE");
        let next = format!("NEXT: Answer in the form above, then hand it in. Run: {next}");
        return Ok(prompt(&asked.engine.consultation_words(&question), &next));
    }
    let state = decompose(&asked, options.again, printer, cancel).await?;
    let text = words::decompose_complete(&state, &place.here(phase));
    Ok(Answer::new(Outcome::Passed, text, json::state(&state, place.policy(), &place.here(phase))))
}

/// Items from a reviewer, in the file.
pub async fn decompose(
    asked: &Asked,
    again: bool,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<State, Failure> {
    let again = again.then(actor);
    // Found out before anybody is asked.
    match asked.qr.dir.read(asked.qr.phase)? {
        Some(known) if again.is_some() => asked.qr.may_begin_again(&known.state, again.as_ref())?,
        Some(known) if !known.state.items.is_empty() => {
            return Err(QrError::Decomposed(known.state.items.len()).into());
        }
        _ => {}
    }
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    let (items, reviewer) = printer.progress().during(&asked.engine, asking.decompose(cancel)).await?;
    Ok(asked
        .qr
        .decompose(items, again.as_ref(), &Actor::new(reviewer, ActorKind::Program, Channel::Gate))
        .await?)
}

/// A prompt as an answer.
pub fn prompt((system_prompt, payload): &(String, String), next: &str) -> Answer {
    let text = format!("{system_prompt}\n{payload}\n\n{next}\n");
    let json =
        json!({ "system_prompt": system_prompt, "payload": payload, "next": next, "form": given::FORM });
    Answer::new(Outcome::Passed, text, json)
}
