//! `countersign doctor`: checks what a review needs, line by line, with hints.
//!
//! Programs of the user are only started by `--ask`, with one small question each.

mod ask;
mod check;
mod entries;
mod reviewers;
mod surroundings;

pub use check::answer;

use crate::Failure;
use crate::answer::v1::{Answer, Checks};
use crate::authority::FlagsFrom;
use crate::project::{Project, current_folder, guard_program};
use countersign_engine::config::Flags;
use countersign_engine::engine::Surroundings;
use countersign_engine::process::GuardProgram;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Checks everything, and with `ask` asks every reviewer. `note` gets what takes a while.
pub async fn doctor(
    config: Option<&Path>,
    reviewer: Option<String>,
    ask: bool,
    note: &(dyn Fn(&str) + Sync),
    cancel: &CancellationToken,
) -> Result<Answer<Checks>, Failure> {
    let guard = guard_program()?;
    let mut lines = vec![surroundings::guard(&guard, cancel).await, surroundings::git(&guard, cancel).await];
    lines.extend(surroundings::temporary_folder());
    let gate = Project::for_gate(current_folder()?, &Flags::default(), FlagsFrom::Caller).await;
    match Project::find(config, reviewer) {
        Err(failure) => {
            lines.push(surroundings::unusable_configuration(&failure));
            lines.push(surroundings::gate(&gate));
            if let Ok(project) = &gate {
                lines.extend(entries::installed(&project.root, None, &guard.0));
            }
        }
        Ok(project) => {
            lines.extend(surroundings::configuration(&project));
            lines.push(surroundings::gate(&gate));
            lines.push(surroundings::ledger(&project).await);
            lines.extend(entries::installed(&project.root, Some(&project), &guard.0));
            let gate = gate.ok().map(|gate| gate.surroundings());
            let asking = Asking { project: &project, gate, guard: &guard, note, cancel };
            for (name, panelist) in project.each_reviewer() {
                lines.extend(asking.look(&name, panelist, ask).await?);
            }
        }
    }
    match cancel.is_cancelled() {
        true => Err(Failure::interrupted()),
        false => Ok(answer(lines)),
    }
}

struct Asking<'a> {
    project: &'a Project,
    /// What surrounds the programs of a gate; none where none can judge yet.
    gate: Option<Surroundings>,
    guard: &'a GuardProgram,
    note: &'a (dyn Fn(&str) + Sync),
    cancel: &'a CancellationToken,
}
