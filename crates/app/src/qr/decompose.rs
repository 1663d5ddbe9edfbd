//! `qr decompose`: items from the caller or from a reviewer, or the prompt for them.

use super::ask::QrQuestion;
use super::{Answered, Preview, QrContext, Watch, change};
use crate::Failure;
use crate::answer::v1::qr::Phase;
use crate::author::actor;
use countersign_core::review::{Actor, ActorKind, Channel};
use countersign_doors::qr::{QrError, State, texts};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

pub struct Items {
    pub artifacts: Vec<PathBuf>,
    /// The caller's items, with their file.
    pub given: Option<(PathBuf, String)>,
    /// Whether they replace the items of the phase.
    pub again: bool,
    pub prompt: bool,
}

pub async fn items(
    context: &QrContext,
    wanted: &Items,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Answered<Preview<Phase>>, Failure> {
    let phase = context.phase()?;
    if let Some((path, text)) = &wanted.given {
        if !wanted.artifacts.is_empty() {
            // Remembered for later commands.
            QrQuestion::open(context, &wanted.artifacts, false).await?;
        }
        let answer = change::decompose(context, (path, text), wanted.again).await?;
        return Ok(answer.map(Preview::Answer));
    }
    let asked = QrQuestion::open(context, &wanted.artifacts, !wanted.prompt).await?;
    if wanted.prompt {
        let materials = asked.materials()?;
        let question = asked.about(&materials).decomposition()?;
        let next = context.here(phase).await.command("decompose --items -");
        let next = format!("NEXT: Answer in the form above, then hand it in on standard input. Run: {next}");
        return Ok(Preview::prompt(asked.engine.consultation_words(&question), next));
    }
    let state = decompose(&asked, wanted.again, watch, cancel).await?;
    let here = context.here(phase).await;
    let text = texts::decompose_complete(&state, &here);
    Ok(change::answer(context, &here, &state, text).map(Preview::Answer))
}

pub(super) async fn decompose(
    asked: &QrQuestion,
    again: bool,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<State, Failure> {
    let again = again.then(actor);
    // Checked before a reviewer is asked.
    match asked.qr.dir.read(asked.qr.phase)? {
        Some(known) if again.is_some() => asked.qr.may_begin_again(&known.state, again.as_ref())?,
        Some(known) if !known.state.items.is_empty() => {
            return Err(QrError::Decomposed(known.state.items.len()).into());
        }
        _ => {}
    }
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    let (items, reviewer) = watch.during(&asked.engine, asking.decompose(cancel)).await?;
    let by = Actor::new(reviewer, ActorKind::Program, Channel::Gate);
    Ok(asked.qr.decompose(items, again.as_ref(), &by).await?)
}
