//! What agent programs call when an agent is about to stop: what changed since the last pass is judged, and the program is
//! told whether to hold its agent.

mod guarded;
mod judging;
mod look;
mod own_call;
mod tries;

pub use guarded::place;
pub use judging::Judged;
pub use own_call::is_real;
pub use tries::Tries;

use crate::Failure;
use crate::project::{self, Project};
use countersign_core::text::visible_line;
use countersign_doors::service::hook::input::Stopping;
use countersign_engine::programs::Hook;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Takes what a person may want to know beside the answer.
pub type Note = fn(&str);

/// An agent that is about to stop.
pub struct Stop {
    /// The hook of its program.
    pub hook: Hook,
    /// What the program wrote.
    pub stopping: Stopping,
    /// Where the project is looked for.
    pub place: PathBuf,
    /// The configuration that was named, instead of the one that is found.
    pub config: Option<PathBuf>,
}

/// Judges what changed since the last pass; none where nothing did, or where this project does not want it.
pub async fn stopped(stop: Stop, note: Note, cancel: &CancellationToken) -> Result<Option<Judged>, Failure> {
    for name in project::ignored_by_gates() {
        note(&format!("{name} is ignored: a hook takes configuration and reviewers from the project alone"));
    }
    let Stop { hook, stopping, place, config } = stop;
    let Some(work) = look::look(place, config, note).await? else { return Ok(None) };
    let broken = work.broken.clone();
    broken.iter().for_each(|words| note(words));
    let mut judged = judging::judge(hook, &stopping, work, note, cancel).await?;
    if let (Some(judged), Some(words)) = (&mut judged, broken) {
        judged.say = judged.say.clone().also(&format!("Countersign: {}", visible_line(&words)));
    }
    Ok(judged)
}

/// The hook was installed: what an agent commits from now on is seen. Gives back what keeps it from reviewing.
pub async fn installed(config: Option<&Path>) -> Vec<String> {
    let begun = look::begin_here(config.map(Path::to_owned)).await.err().map(|failure| {
        format!(
            "it is not known where work begins, so the first call of the hook decides: {}",
            failure.message
        )
    });
    let unwanted = Project::find(config, None).ok().and_then(|project| judging::unwanted(&project));
    let unwanted = unwanted.map(|why| format!("{why}: write `review: {{trigger: session_idle}}`"));
    begun.into_iter().chain(unwanted).collect()
}
