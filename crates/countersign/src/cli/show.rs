//! `countersign show`: one review.

use super::{Failure, Global};
use crate::output::{Answer, verdict_text};
use clap::Args;
use countersign_app::answer::v1::{self, Verdict};
use countersign_app::project::Project;
use countersign_app::show::show;

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow; without one, the latest
    pub id: Option<String>,
}

pub async fn run(global: &Global, options: ShowOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    Ok(answer(show(&project.beside_gate().await, options.id.as_deref()).await?))
}

pub fn answer(answer: v1::Answer<Verdict>) -> Answer {
    let text = verdict_text(&answer.own, &answer.own.next, true);
    Answer::of(answer, text)
}
