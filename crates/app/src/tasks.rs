//! Access to the tasks of a project, and their latest reviews.

use crate::Failure;
use crate::authority;
use crate::project::Project;
use crate::time::rfc3339;
use countersign_core::ids::ReviewId;
use countersign_doors::service::decided::{after_decision, task_of};
use countersign_doors::service::known::TrustedPlan;
use countersign_doors::service::plan;
use countersign_doors::service::tasks::Tasks;
use countersign_engine::config::Source;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::Git;
use countersign_engine::ledger::{Ledger, Stored};
use std::path::Path;

pub async fn tasks_in(project: &Project, plan: &str, ledger: Ledger) -> Result<Tasks, Failure> {
    let path = project.root.relative(project.root.path(), Path::new(plan));
    let plan = path.map_err(|problem| Failure::usage(problem.to_string()))?;
    // The plan is left out of the change, so its name must not match other files.
    if !plan.ends_with(".md") || plan.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) {
        return Err(Failure::usage(format!("`{plan}` cannot be a plan"))
            .hint("a plan is a Markdown file, such as PLAN.md, without * ? and other pattern characters in its name"));
    }
    let trusted = trusted_plan(project, &plan).await;
    Ok(Tasks { ledger, root: project.root.path().to_owned(), plan, trusted })
}

/// The plan of the trusted commit; none where it has none.
pub async fn trusted_plan(project: &Project, plan: &str) -> Option<TrustedPlan> {
    let git = Git::at(project.root.path());
    let remote = project.authority.as_ref().and_then(|authority| match &authority.source {
        authority::Source::Committed { commit, .. } => Some(commit.clone()),
        // What a person vouched for is the configuration, not every later plan.
        authority::Source::Vouched { .. } | authority::Source::BuiltIn => None,
    });
    let commit = match remote {
        Some(commit) => commit,
        None => git.base(None, None).await.ok().flatten()?,
    };
    let bytes = git.file_at(&commit, plan).await.ok().flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    let tasks = plan::parse(&Source::new(plan, &text)).plan.tasks;
    (!tasks.is_empty()).then_some(TrustedPlan { commit, tasks })
}

pub async fn review_of(project: &Project, ledger: &Ledger, typed: &str) -> Result<Option<ReviewId>, Failure> {
    let tasks = tasks_in(project, plan::FILE, ledger.clone()).await?;
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
    let tasks = tasks_in(project, plan::FILE, ledger.clone()).await?;
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
