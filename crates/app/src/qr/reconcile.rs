//! `qr reconcile`: whether each milestone of a plan is implemented.

use super::ask::{QrQuestion, files};
use super::{Answered, QrContext, Watch};
use crate::Failure;
use crate::answer::v1::qr::{self as v1, Prompts, Question, Reconciled};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::asking::{self, Asking, Milestone};
use countersign_doors::qr::texts::reconciliation;
use countersign_doors::qr::{Materials, shell_word};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

struct Opened {
    asked: QrQuestion,
    plan: Materials,
    built: Materials,
}

impl Opened {
    async fn new(
        context: &QrContext,
        plan: &Path,
        built: &[PathBuf],
        reviewers: bool,
    ) -> Result<Self, Failure> {
        context.make_own()?;
        let asked = QrQuestion::open(context, &[], reviewers).await?;
        let read = |typed: &[PathBuf]| {
            let found = asking::read(&asked.engine.planner().root, &files(context, typed)?)?;
            Materials::new(found).map_err(Failure::usage)
        };
        let (plan, built) = (read(&[plan.to_owned()])?, read(built)?);
        Ok(Self { asked, plan, built })
    }

    fn asking(&self) -> Asking<'_> {
        self.asked.about(&self.built)
    }
}

/// Compares a plan with the files that were built; without any, with the files that each milestone names.
pub async fn reconcile(
    context: &QrContext,
    plan: &Path,
    built: &[PathBuf],
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Answered<Reconciled>, Failure> {
    let opened = Opened::new(context, plan, built, true).await?;
    let here = context.here(context.phase()?).await;
    let asking = opened.asking();
    let milestones = watch.during(&opened.asked.engine, asking.reconcile(&opened.plan, cancel)).await?;
    let outcome = Outcome::worst(milestones.iter().map(Milestone::outcome)).unwrap_or(Outcome::NeedsWork);
    let file = |flag: &str, path: &Path| format!(" {flag} {}", shell_word(&path.to_string_lossy()));
    let files: String = built.iter().map(|path| file("--files", path)).collect();
    let again = format!("reconcile{}{files}{}", file("--plan", plan), here.flags);
    let next = reconciliation::next(&here, outcome, &again);
    let text = reconciliation::complete(&milestones, outcome, &next);
    let milestones = milestones.iter().map(v1::Milestone::from).collect();
    Ok(Answered::new(outcome, text, Reconciled { milestones, next }))
}

pub async fn reconcile_prompts(
    context: &QrContext,
    plan: &Path,
    built: &[PathBuf],
) -> Result<Answered<Prompts>, Failure> {
    let opened = Opened::new(context, plan, built, false).await?;
    context.phase()?;
    let questions = opened.asking().reconciliation(&opened.plan)?;
    let question = |(system_prompt, payload)| Question { system_prompt, payload };
    let words = questions.iter().map(|one| question(opened.asked.engine.consultation_words(&one.question)));
    let prompts: Vec<Question> = words.collect();
    let all: Vec<_> = prompts.iter().map(|one| format!("{}\n{}", one.system_prompt, one.payload)).collect();
    Ok(Answered::new(Outcome::Passed, all.join("\n\n") + "\n", Prompts { prompts }))
}
