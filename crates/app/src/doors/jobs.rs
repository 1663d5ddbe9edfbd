//! The row of the door of workflows.

use super::{Checked, Door, Look, Pending};
use crate::Failure;
use crate::project::{Project, more_job_folders};
use countersign_core::ids::ReviewId;
use countersign_core::text::counted;
use countersign_doors::jobs;
use countersign_doors::jobs::library::{JOBS_FOLDER, Library};
use countersign_doors::jobs::overview::review_named;
use countersign_engine::config::{Problems, Sees};
use countersign_engine::ledger::Ledger;
use countersign_engine::workspace::Root;
use serde_json::json;

pub const DOOR: Door = Door { find: Some(find), check: Some(check), ..Door::plain(jobs::DOOR) };

/// The review of a step, by `SESSION/STEP`.
fn find<'a>(_: &'a Project, ledger: &'a Ledger, typed: &'a str) -> Pending<'a, Option<ReviewId>> {
    Box::pin(async move {
        let found = review_named(ledger, typed).await;
        found.map_err(|refusal| Failure::internal(refusal.to_string()))
    })
}

fn check(look: &Look<'_>) -> Checked {
    let library = Library::new(look.root, look.here, more_job_folders(look.here));
    let found = library.look();
    let steps: usize = found.jobs.iter().map(|job| job.steps.len()).sum();
    let words = match found.jobs.len() {
        0 => String::new(),
        jobs => {
            let (jobs, steps) = (counted(jobs, "job", "jobs"), counted(steps, "step", "steps"));
            format!("{}: {jobs}, {steps}: valid\n", library.base().join(JOBS_FOLDER).display())
        }
    };
    let mut warnings = found.warnings.clone();
    let sees_project = look.config.is_some_and(|config| config.jobs.sees == Sees::Project);
    if let Ok(root) = Root::new(look.root)
        && !sees_project
    {
        warnings.extend(jobs::guidance_warnings(&found, &root, library.base()));
    }
    Checked {
        is_there: !found.jobs.is_empty() || !found.errors.is_empty(),
        words,
        keys: vec![("jobs", json!(found.jobs.len()))],
        problems: Problems::together(found.errors.into_iter().map(|error| error.problems)),
        warnings,
    }
}
