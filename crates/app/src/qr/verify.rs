//! `qr verify`: verifies every open or failed item that blocks, each by a review.

use super::ask::QrQuestion;
use super::look::held;
use super::{Answered, Preview, QrContext, Watch};
use crate::Failure;
use crate::answer::v1::qr::{self as v1, Phase};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::asking::{Unruled, Verified};
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::{State, shell_word, texts};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Verifies the named items, or all that need it; with `prompt` it only shows the prompt of that item.
pub async fn verify(
    context: &QrContext,
    artifacts: &[PathBuf],
    items: &[String],
    prompt: Option<&str>,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Answered<Preview<v1::Verified>>, Failure> {
    let phase = context.phase()?;
    context.dir.require(phase)?;
    let asked = QrQuestion::open(context, artifacts, prompt.is_none()).await?;
    if let Some(id) = prompt {
        let materials = asked.materials()?;
        let preview = asked.about(&materials).verifier_prompt(id).await?;
        let round = context.dir.require(phase)?.state.iteration;
        let record = format!("record {} PASS --round {round}", shell_word(id));
        let pass = context.here(phase).await.command(&record);
        let next = format!(
            "NEXT: Record your ruling, PASS or in its place FAIL --finding TEXT; no other word is one. Run: {pass}"
        );
        return Ok(Preview::prompt((preview.system_prompt, preview.payload), next));
    }
    let verified = all(&asked, items, watch, cancel).await?;
    Ok(answer(context, &verified, None).await?.map(Preview::Answer))
}

pub(super) async fn all(
    asked: &QrQuestion,
    ids: &[String],
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Verified, Failure> {
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    Ok(watch.during(&asked.engine, asking.verify(ids, cancel)).await?)
}

/// The answer. Items without a ruling are warnings.
pub(super) async fn answer(
    context: &QrContext,
    verified: &Verified,
    fixes: Option<u32>,
) -> Result<Answered<v1::Verified>, Failure> {
    let (phase, policy) = (verified.state.phase, context.policy());
    let held = held(context, &context.dir.require(phase)?).await;
    let here = context.here(phase).await;
    let text = texts::verification_complete(&held.state, policy, &here, &held.contradictions);
    let answer = v1::Verified {
        phase: Phase::new(&held.state, policy, &here).contradicted(&held.contradictions, &here),
        verified: verified.items - verified.unruled.len(),
        unruled: verified.unruled.iter().map(v1::Unruled::from).collect(),
        fixes,
    };
    let warnings = verified.unruled.iter().map(words_of).collect();
    let outcome = held.outcome(outcome(context, &held.state, verified));
    Ok(Answered::new(outcome, text, answer).warn(warnings))
}

/// The worst of the gate's outcome and the outcomes of reviews without a ruling.
fn outcome(context: &QrContext, state: &State, verified: &Verified) -> Outcome {
    let gated = gate(state, context.policy()).end.outcome();
    let unruled = verified.unruled.iter().map(|unruled| unruled.outcome);
    Outcome::worst(unruled.chain([gated])).unwrap_or(gated)
}

fn words_of(unruled: &Unruled) -> String {
    let why = unruled.outcome.reason().unwrap_or_else(|| unruled.outcome.name());
    format!("{} has no ruling ({why}): {}", unruled.id, unruled.detail)
}
