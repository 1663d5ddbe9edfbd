//! Access to the tasks of a project, and their latest reviews.

use crate::Failure;
use crate::project::Project;
use crate::time::rfc3339;
use countersign_core::ids::ReviewId;
use countersign_doors::service::decided::{after_decision, task_of};
use countersign_doors::service::plan;
use countersign_doors::service::tasks::Tasks;
use countersign_engine::fresh::now_ms;
use countersign_engine::ledger::{Ledger, Stored};
use std::path::Path;

pub fn tasks_in(project: &Project, plan: &str, ledger: Ledger) -> Result<Tasks, Failure> {
    let path = project.root.relative(project.root.path(), Path::new(plan));
    let plan = path.map_err(|problem| Failure::usage(problem.to_string()))?;
    // The plan is left out of the change, so its name must not match other files.
    if !plan.ends_with(".md") || plan.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) {
        return Err(Failure::usage(format!("`{plan}` cannot be a plan"))
            .hint("a plan is a Markdown file, such as PLAN.md, without * ? and other pattern characters in its name"));
    }
    Ok(Tasks { ledger, root: project.root.path().to_owned(), plan })
}

pub async fn review_of(project: &Project, ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let tasks = tasks_in(project, plan::FILE, ledger.clone())?;
    let task = match plan::is_planned_id(typed) {
        true => tasks.find(typed).await?,
        // A mistake in the plan must not block other reviews.
        false => match tasks.added(typed).await? {
            Some(task) => task,
            None => return Ok(None),
        },
    };
    let latest = tasks.ledger.latest_for(&tasks.subject(&task)).await?;
    match latest {
        Some(stored) => Ok(Some(stored.review.id)),
        None => Err(Failure::not_found(format!("task {} was never reviewed", task.id))
            .hint(format!("run `countersign task review {}`", task.id))),
    }
}

/// Sets the status of a task after a decision about its review.
pub async fn decided(project: &Project, ledger: &Ledger, stored: &Stored) -> Result<(), Failure> {
    let tasks = tasks_in(project, plan::FILE, ledger.clone())?;
    if let Some(mut task) = task_of(&tasks, &stored.review.subject).await? {
        after_decision(&tasks, &mut task, &stored.review, now()).await?;
    }
    Ok(())
}

/// The time, in milliseconds and in words.
pub fn now() -> (i64, String) {
    let ms = now_ms();
    // Whole seconds, as existing plans have them.
    (ms, rfc3339(ms - ms.rem_euclid(1000)).unwrap_or_default())
}
