//! The hook that agent programs call when an agent is about to stop: the change since the last pass is judged, and the
//! answer says whether to hold the agent. Input and answers of the programs are in the service door.

mod anchors;
mod guarded;
mod judging;
mod look;
mod own_call;
mod room;
mod tested;
mod tries;

pub use guarded::place;
pub use judging::Judged;
pub use own_call::is_real;
pub use tested::test;
pub use tries::Tries;

use crate::Failure;
use crate::project::{Project, current_folder};
use countersign_core::text::visible_line;
use countersign_doors::service::hook::input::Stopping;
use countersign_engine::git;
use countersign_engine::programs::Hook;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

pub type Note = fn(&str);

pub struct Stop {
    pub hook: Hook,
    pub stopping: Stopping,
    pub place: PathBuf,
    pub config: Option<PathBuf>,
    /// Whether a shell of the agent calls, and not its program: a pass is then not where the next stop begins.
    pub by_shell: bool,
}

/// Judges the change since the last pass; none where there is none, or where the project does not want it.
pub async fn stopped(stop: Stop, note: Note, cancel: &CancellationToken) -> Result<Option<Judged>, Failure> {
    let Stop { hook, stopping, place, config, by_shell } = stop;
    let Some(mut work) = look::look(place, config, note).await? else { return Ok(None) };
    // What another configuration passed may not have been judged by the trusted one.
    work.keeps_pass = !by_shell && !work.base.is_chosen();
    work.base.warnings.iter().for_each(|words| note(words));
    let authority = work.base.project.authority.clone();
    let notices = authority.map(|authority| authority.notices.clone()).unwrap_or_default();
    let mut judged = judging::judge(hook, &stopping, work, note, cancel).await?;
    if let Some(judged) = &mut judged {
        for words in notices {
            judged.say = judged.say.clone().also(&format!("Countersign: {}", visible_line(&words)));
        }
    }
    Ok(judged)
}

/// Refuses a folder in which a hook would review nothing.
pub fn require_repository() -> Result<(), Failure> {
    if current_folder()?.ancestors().any(git::is_repository) {
        return Ok(());
    }
    Err(Failure::usage(
        "a hook reviews changes, and this folder is not in a git repository: nothing was written",
    )
    .hint("run `git init` first; or leave out --hook, and agents submit their work to the MCP server"))
}

/// Records where work begins, and the gate files that a person has seen. Returns a warning where that is not possible.
pub async fn begin(config: Option<&Path>) -> Option<String> {
    look::begin_here(config.map(Path::to_owned)).await.err().map(|failure| {
        let words = "the starting point of the work could not be recorded now; the hook records it when it is called for the first time";
        format!("{words}: {}", failure.message)
    })
}

/// The same when the hook is installed, with what keeps it from reviewing.
pub async fn installed(config: Option<&Path>) -> Vec<String> {
    let begun = begin(config).await;
    let unwanted = Project::find(config, None).ok().and_then(|project| judging::unwanted(&project));
    let unwanted = unwanted.map(|why| format!("{why}: write `review: {{trigger: session_idle}}`"));
    begun.into_iter().chain(unwanted).collect()
}
