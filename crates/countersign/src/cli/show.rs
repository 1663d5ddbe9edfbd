//! `countersign show`: one review.

use super::{Failure, Global};
use crate::formats::Report;
use crate::output::{Answer, verdict_text};
use clap::Args;
use countersign_app::answer::v1::{self, Verdict};
use countersign_app::excerpt::judged_file;
use countersign_app::project::Project;
use countersign_app::show::show;
use countersign_core::text::visible;

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The review: its id or a unique beginning of it, its subject, or SESSION/STEP of a workflow; without one, the latest
    pub id: Option<String>,
    /// Print this file as it was judged, without secrets
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// With --file: print the diff of the file as it was judged
    #[arg(long, requires = "file")]
    pub diff: bool,
}

pub async fn run(global: &Global, options: ShowOptions) -> Result<Answer, Failure> {
    let project = Project::find(global.config.as_deref(), None)?;
    if let Some(path) = &options.file {
        let answer = judged_file(&project, options.id.as_deref(), path, options.diff).await?;
        // A terminal must not be steered by what was judged.
        let text = visible(&answer.own.text).into_owned();
        return Ok(Answer::of(answer, text));
    }
    Ok(answer(show(&project.beside_gate().await, options.id.as_deref()).await?))
}

pub fn answer(answer: v1::Answer<Verdict>) -> Answer {
    let text = verdict_text(&answer.own, &answer.own.next, true);
    let report = Report::of_verdict(&answer);
    Answer::of(answer, text).reporting(report)
}
