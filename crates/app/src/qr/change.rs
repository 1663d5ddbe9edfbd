//! The commands that change a phase.

use super::{Answered, QrContext};
use crate::Failure;
use crate::answer::v1::qr::{Fixed, Phase, Reset};
use crate::author::actor;
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition::Ruling;
use countersign_doors::qr::{Here, State, items_input, texts};
use std::path::{Path, PathBuf};

pub(super) async fn decompose(
    context: &QrContext,
    (path, text): (&Path, &str),
    again: bool,
) -> Result<Answered<Phase>, Failure> {
    let phase = context.phase()?;
    let items = items_input::parse(path, text, phase).map_err(|problem| Failure::at(vec![problem]))?;
    let door = context.door().await?;
    let state = door.decompose(items, again.then(actor).as_ref(), &actor()).await?;
    let here = context.here(phase).await;
    let text = texts::decompose_complete(&state, &here);
    Ok(answer(context, &here, &state, text))
}

pub async fn record(
    context: &QrContext,
    id: &str,
    ruling: &str,
    finding: Option<&str>,
    round: Option<u32>,
) -> Result<Answered<Phase>, Failure> {
    let phase = context.phase()?;
    let ruling = Ruling::of(ruling, finding)?;
    let state = context.door().await?.record(id, &ruling, round, &actor()).await?;
    let here = context.here(phase).await;
    let text = texts::recorded(&state, id, context.policy(), &here);
    Ok(answer(context, &here, &state, text))
}

/// `qr fixed`: begins the next round, with all items that the fix may have changed.
pub async fn fixed(context: &QrContext, files: &[PathBuf]) -> Result<Answered<Fixed>, Failure> {
    let phase = context.phase()?;
    let project = &context.project;
    let relative = |path: &PathBuf| project.root.relative(&project.here, path);
    let files: Result<Vec<String>, _> = files.iter().map(relative).collect();
    let files = files.map_err(|problem| Failure::usage(problem.to_string()))?;
    let door = context.door().await?;
    let (state, fixed) = door.fixed(&files, &actor()).await?;
    let here = context.here(phase).await;
    let text = texts::fixes_applied(&state, &fixed, context.policy(), &here);
    let answer = answer(context, &here, &state, text);
    Ok(answer.map(|phase| Fixed { phase, next_round: fixed.next_round, reopened: fixed.reopened }))
}

pub async fn accept(context: &QrContext, id: &str, reason: &str) -> Result<Answered<Phase>, Failure> {
    let phase = context.phase()?;
    let (door, by) = (context.door().await?, actor());
    context.project.accepts_unsigned(&by)?;
    let state = door.accept(id, reason, &by).await?;
    let here = context.here(phase).await;
    let text = texts::accepted(&state, id, context.policy(), &here);
    Ok(answer(context, &here, &state, text))
}

pub async fn reset(context: &QrContext) -> Result<Answered<Reset>, Failure> {
    let phase = context.phase()?;
    let by = actor();
    context.project.accepts_unsigned(&by)?;
    let removed = context.door().await?.reset(&by).await?;
    let here = context.here(phase).await;
    let answer = Reset { phase: phase.name(), removed, next: here.decompose() };
    Ok(Answered::new(Outcome::Passed, texts::reset(&here, removed), answer))
}

/// The answer of a command that changed a phase. It is a success whatever the gate says.
pub(super) fn answer(context: &QrContext, here: &Here, state: &State, text: String) -> Answered<Phase> {
    Answered::new(Outcome::Passed, text, Phase::new(state, context.policy(), here))
}
