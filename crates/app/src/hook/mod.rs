//! The hook that agent programs call when an agent is about to stop: the change since the last pass is judged, and the
//! answer says whether to hold the agent. Input and answers of the programs are in the service door.

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

pub type Note = fn(&str);

pub struct Stop {
    pub hook: Hook,
    pub stopping: Stopping,
    pub place: PathBuf,
    pub config: Option<PathBuf>,
}

/// Judges the change since the last pass; none where there is none, or where the project does not want it.
pub async fn stopped(stop: Stop, note: Note, cancel: &CancellationToken) -> Result<Option<Judged>, Failure> {
    for name in project::ignored_by_gates() {
        note(&format!("{name} is ignored: a hook uses only the configuration and reviewers of the project"));
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

/// Records the start of work when the hook is installed. Returns warnings about what keeps the hook from reviewing.
pub async fn installed(config: Option<&Path>) -> Vec<String> {
    let begun = look::begin_here(config.map(Path::to_owned)).await.err().map(|failure| {
        let words = "the starting point of the work could not be recorded now; the hook records it when it is called for the first time";
        format!("{words}: {}", failure.message)
    });
    let unwanted = Project::find(config, None).ok().and_then(|project| judging::unwanted(&project));
    let unwanted = unwanted.map(|why| format!("{why}: write `review: {{trigger: session_idle}}`"));
    begun.into_iter().chain(unwanted).collect()
}
