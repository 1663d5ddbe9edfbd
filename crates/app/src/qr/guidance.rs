//! `qr fix`: the fixes of blocking failures, from a reviewer if one is configured.

use super::ask::QrQuestion;
use super::{Answered, Preview, QrContext, Watch};
use crate::Failure;
use crate::answer::v1::qr::{FailedItem, Fix, Phase};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::asking::AskError;
use countersign_doors::qr::texts::{self, blocking_failures};
use countersign_doors::qr::{Item, State};
use countersign_engine::engine::Judge;
use std::collections::HashMap;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Fixes by item, and warnings where they are not from a reviewer.
#[derive(Default)]
pub(super) struct Guidance {
    fixes: HashMap<String, String>,
    pub(super) warnings: Vec<String>,
}

impl Guidance {
    pub(super) fn fix(&self, item: &Item) -> String {
        self.fixes.get(&item.id).cloned().unwrap_or_else(|| texts::fix_of(item))
    }
}

pub async fn fix(
    context: &QrContext,
    artifacts: &[PathBuf],
    prompt: bool,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Answered<Preview<Fix>>, Failure> {
    let phase = context.phase()?;
    let (here, policy) = (context.here(phase).await, context.policy());
    let state = context.dir.require(phase)?.state;
    if prompt {
        let asked = QrQuestion::open(context, artifacts, false).await?;
        let materials = asked.materials()?;
        let question = asked.about(&materials).fixing(&state);
        return Ok(Preview::prompt(asked.engine.consultation_words(&question), here.fixed()));
    }
    let guidance = match !blocking_failures(&state, policy).is_empty() && is_asked(context)? {
        true => {
            by_reviewer(&QrQuestion::open(context, artifacts, true).await?, &state, watch, cancel).await?
        }
        false => Guidance::default(),
    };
    let fix = |item: &Item| guidance.fix(item);
    let text = texts::fix_guidance(&state, policy, &here, fix);
    let fixes = FailedItem::all(&state, policy, fix);
    let answer = Preview::Answer(Fix { phase: Phase::new(&state, policy, &here), fixes });
    Ok(Answered::new(Outcome::Passed, text, answer).warn(guidance.warnings))
}

/// Whether a reviewer is configured. An installed program alone is not asked: the findings say enough.
fn is_asked(context: &QrContext) -> Result<bool, Failure> {
    let config = &context.project.config;
    if config.reviewer.is_none() && config.reviewers.is_empty() {
        return Ok(false);
    }
    let panelists = context.project.panelists()?;
    Ok(panelists.iter().any(|panelist| !matches!(panelist.judge, Judge::SelfReview)))
}

/// Fixes from a reviewer, else the findings: a fix is no verdict.
pub(super) async fn by_reviewer(
    asked: &QrQuestion,
    state: &State,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Guidance, Failure> {
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    match watch.during(&asked.engine, asking.fixes(state, cancel)).await {
        Ok(fixes) => Ok(Guidance { fixes, warnings: vec![] }),
        Err(AskError::NoAnswer(failed)) => {
            let words = format!(
                "no reviewer wrote fix instructions ({}), so the findings are shown instead: {}",
                failed.why.name(),
                failed.detail
            );
            Ok(Guidance { fixes: HashMap::new(), warnings: vec![words] })
        }
        Err(error) => Err(error.into()),
    }
}
