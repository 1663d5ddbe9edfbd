//! The commands that change a phase.

use super::{Answered, Place};
use crate::Failure;
use crate::answer::v1::qr::{Fixed, Phase, Reset};
use crate::author::actor;
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition::Ruling;
use countersign_doors::qr::{State, given, words};
use std::path::{Path, PathBuf};

pub(super) async fn decompose(
    place: &Place,
    (path, text): (&Path, &str),
    again: bool,
) -> Result<Answered<Phase>, Failure> {
    let phase = place.phase()?;
    let items = given::parse(path, text, phase).map_err(|problem| Failure::at(vec![problem]))?;
    let door = place.door().await?;
    let state = door.decompose(items, again.then(actor).as_ref(), &actor()).await?;
    let text = words::decompose_complete(&state, &place.here(phase));
    Ok(answer(place, &state, text))
}

pub async fn record(
    place: &Place,
    id: &str,
    ruling: &str,
    finding: Option<&str>,
) -> Result<Answered<Phase>, Failure> {
    let phase = place.phase()?;
    let ruling = Ruling::of(ruling, finding)?;
    let door = place.door().await?;
    let found = place.dir.require(phase)?.state;
    let digest = found.item(id).and_then(|item| item.scope.file_digest(&door.root));
    let state = door.record(id, &ruling, digest, (false, &actor())).await?;
    let text = words::recorded(&state, id, place.policy(), &place.here(phase));
    Ok(answer(place, &state, text))
}

/// `qr fixed`: begins the next round, with all items that the fix may have changed.
pub async fn fixed(place: &Place, files: &[PathBuf]) -> Result<Answered<Fixed>, Failure> {
    let phase = place.phase()?;
    let project = &place.project;
    let relative = |path: &PathBuf| project.root.relative(&project.here, path);
    let files: Result<Vec<String>, _> = files.iter().map(relative).collect();
    let files = files.map_err(|problem| Failure::usage(problem.to_string()))?;
    let door = place.door().await?;
    let (state, fixed) = door.fixed(&files, &actor()).await?;
    let text = words::fixes_applied(&state, &fixed, place.policy(), &place.here(phase));
    let answer = answer(place, &state, text);
    Ok(answer.map(|phase| Fixed { phase, next_round: fixed.next_round, reopened: fixed.reopened }))
}

pub async fn accept(place: &Place, id: &str, reason: &str) -> Result<Answered<Phase>, Failure> {
    let phase = place.phase()?;
    let door = place.door().await?;
    let state = door.accept(id, reason, &actor()).await?;
    let text = words::accepted(&state, id, place.policy(), &place.here(phase));
    Ok(answer(place, &state, text))
}

pub async fn reset(place: &Place) -> Result<Answered<Reset>, Failure> {
    let phase = place.phase()?;
    let removed = place.door().await?.reset(&actor()).await?;
    let here = place.here(phase);
    let answer = Reset { phase: phase.name(), removed, next: here.decompose() };
    Ok(Answered::new(Outcome::Passed, words::reset(&here, removed), answer))
}

/// The answer of a command that changed a phase. It is a success whatever the gate says.
pub(super) fn answer(place: &Place, state: &State, text: String) -> Answered<Phase> {
    Answered::new(Outcome::Passed, text, Phase::new(state, place.policy(), &place.here(state.phase)))
}
