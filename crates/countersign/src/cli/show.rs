//! `countersign show`: one review, as it stands.

use super::arguments::ShowOptions;
use super::{Failure, Global};
use crate::output::{Answer, verdict_text};
use countersign_app::answer::v1::{self, Verdict};
use countersign_app::project::Project;
use countersign_app::show::show;

/// Shows a review.
pub async fn run(global: &Global, options: ShowOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    Ok(answer(show(&project, options.id.as_deref()).await?))
}

/// A review, with the names of its findings.
pub fn answer(answer: v1::Answer<Verdict>) -> Answer {
    let text = verdict_text(&answer.own, &answer.own.next, true);
    Answer::of(answer, text)
}
