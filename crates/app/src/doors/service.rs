//! The row of the service door: tasks of a plan that are reviewed when their work is done.

use super::{Checked, Door, Look, Pending};
use crate::project::Project;
use crate::tasks;
use countersign_core::ids::ReviewId;
use countersign_core::text::counted;
use countersign_doors::service;
use countersign_doors::service::error::ServiceError;
use countersign_doors::service::plan;
use countersign_doors::service::tasks::read_plan;
use countersign_engine::ledger::{Ledger, Stored};
use serde_json::json;

pub const DOOR: Door =
    Door { find: Some(find), decided: Some(decided), check: Some(check), ..Door::plain(service::DOOR) };

/// The review of a task, by its place in the plan or by its id.
fn find<'a>(project: &'a Project, ledger: &'a Ledger, typed: &'a str) -> Pending<'a, Option<ReviewId>> {
    Box::pin(tasks::review_of(project, ledger, typed))
}

fn decided<'a>(project: &'a Project, ledger: &'a Ledger, stored: &'a Stored) -> Pending<'a, ()> {
    Box::pin(tasks::decided(project, ledger, stored))
}

fn check(look: &Look<'_>) -> Checked {
    let file = look.root.join(plan::FILE);
    let (count, problems, warnings) = match read_plan(&file) {
        Ok(Some(mut reading)) => {
            let warnings = std::mem::take(&mut reading.warnings);
            match reading.valid() {
                Ok(plan) => (plan.tasks.len(), None, warnings),
                Err(problems) => (0, Some(problems), warnings),
            }
        }
        Err(ServiceError::Plan(problems)) => (0, Some(problems), vec![]),
        Ok(None) | Err(_) => (0, None, vec![]),
    };
    let words = match count {
        0 => String::new(),
        count => format!("{}: {}: valid\n", file.display(), counted(count, "task", "tasks")),
    };
    let keys = vec![("plan_tasks", json!(count))];
    Checked { is_there: count > 0, words, keys, problems, warnings }
}
