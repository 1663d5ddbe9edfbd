//! `countersign doctor`: checks what a review needs, line by line, with hints.
//!
//! Programs of the user are only started by `--ask`, with one small question each.

mod ask;
mod check;
mod reviewers;
mod surroundings;

pub use check::answer;

use crate::Failure;
use crate::answer::v1::{Answer, Checks};
use crate::project::{Project, guard_program};
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
    match Project::find(config, reviewer) {
        Err(failure) => lines.push(surroundings::unusable_configuration(&failure)),
        Ok(project) => {
            lines.extend(surroundings::configuration(&project));
            lines.push(surroundings::gate(project.here.clone()).await);
            lines.push(surroundings::ledger(&project).await);
            let asking = Asking { project: &project, guard: &guard, note, cancel };
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
    guard: &'a GuardProgram,
    note: &'a (dyn Fn(&str) + Sync),
    cancel: &'a CancellationToken,
}
