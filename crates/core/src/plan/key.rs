//! The key of a question: what its ruling stands under.

use super::{Batch, FIRST_LOOK, Reviewer, ReviewerKind};
use crate::digest::{Key, Parts};
use crate::prompt::PROMPT_VERSION;
use crate::rule::Rule;
use crate::submission::Submission;

/// Everything the reviewer could see and was asked, and the look; not severity, round, time or anything random.
pub(super) fn key(
    rule: &Rule,
    batch: &Batch,
    files: &[usize],
    submission: &Submission,
    judge: &Reviewer,
    look: u32,
) -> Key {
    let checked = judge.kind == ReviewerKind::Checks;
    let mut parts = Parts::new("assignment/2");
    parts.count(PROMPT_VERSION as usize);
    parts.count(batch.criteria.len());
    for criterion in batch.criteria.iter().filter_map(|i| rule.criteria.get(*i)) {
        parts.text(&criterion.name).text(&criterion.question);
        parts.maybe(criterion.check.as_ref().map(|check| format!("{check:?}")).as_deref());
    }
    // Our checks see neither the rule's name nor guidance nor notes, so a new word there asks them nothing new.
    parts.maybe(Some(rule.name.as_str()).filter(|_| !checked));
    parts.maybe(rule.guidance.as_deref().filter(|_| !checked));
    parts.maybe(submission.notes.as_ref().filter(|_| !checked).map(|notes| notes.as_str()));
    parts.count(usize::from(judge.sees_project)).text(&judge.identity).text(&batch.redaction);
    parts.count(files.len());
    for file in files.iter().filter_map(|i| submission.files.get(*i)) {
        parts.text(&file.path).text(submission.output_name(file)).text(file.digest.as_str());
    }
    // What stands around a change; where there is none, keys are what they always were.
    if let Some(context) = submission.context.as_ref().filter(|_| !checked) {
        parts.text("context").text(context.as_str());
    }
    // The same for the first look.
    if look != FIRST_LOOK {
        parts.text("look").count(look as usize);
    }
    parts.key()
}
