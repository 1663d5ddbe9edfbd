//! Access to the tasks of a project, and their latest reviews.

use crate::Failure;
use crate::authority;
use crate::decision_mark::DecisionMark;
use crate::project::Project;
use crate::time::rfc3339;
use crate::validate::warning;
use countersign_core::ids::ReviewId;
use countersign_doors::service::decided::{after_decision, after_interruption, task_of};
use countersign_doors::service::known::{KnownPlan, Titles, TrustedPlan};
use countersign_doors::service::plan;
use countersign_doors::service::tasks::{Tasks, read_plan};
use countersign_engine::config::Source;
use countersign_engine::fresh::now_ms;
use countersign_engine::git::Git;
use countersign_engine::ledger::{Ledger, Stored};
use std::path::Path;

/// More files that look like plans are not read to find out whether a title is new.
const PLANS_MAX: usize = 200;

pub async fn tasks_in(project: &Project, plan: &str, ledger: Ledger) -> Result<Tasks, Failure> {
    // Where this fails, the task stays as it was before the decision, and the next command tries again.
    let _ = catch_up(project, &ledger).await;
    tasks_of(project, plan, ledger).await
}

async fn tasks_of(project: &Project, plan: &str, ledger: Ledger) -> Result<Tasks, Failure> {
    let path = project.root.relative(project.root.path(), Path::new(plan));
    let plan = path.map_err(|problem| Failure::usage(problem.to_string()))?;
    // The plan is left out of the change, so its name must not match other files.
    if !plan.ends_with(".md") || plan.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) {
        return Err(Failure::usage(format!("`{plan}` cannot be a plan"))
            .hint("a plan is a Markdown file, such as PLAN.md, without * ? and other pattern characters in its name"));
    }
    let KnownPlan { trusted, elsewhere, .. } = known_plan(project, &plan).await;
    Ok(Tasks { ledger, root: project.root.path().to_owned(), plan, trusted, elsewhere })
}

/// Does what is left of decisions whose process ended.
async fn catch_up(project: &Project, ledger: &Ledger) -> Result<(), Failure> {
    for mark in DecisionMark::left(ledger) {
        if let Some(stored) = ledger.review(&mark.review).await? {
            let tasks = tasks_of(project, plan::FILE, ledger.clone()).await?;
            after_interruption(&tasks, &stored, now()).await?;
        }
        mark.remove();
    }
    Ok(())
}

/// What is known of a plan without the ledger.
pub async fn known_plan(project: &Project, plan: &str) -> KnownPlan {
    let git = Git::at(project.root.path());
    let local = git.base(None, None).await.ok().flatten();
    let source = authority::source_of(project).await;
    let by_person = source.as_ref().is_some_and(|source| source.commit().is_some());
    let trusted = match source {
        // No person has trusted anything here, so the default branch is all there is.
        None | Some(authority::Source::BuiltIn) => local.clone(),
        // The author of the work can move the local default branch.
        Some(source) => source.commit().map(str::to_owned),
    };
    let known = match &trusted {
        Some(commit) => plan_at(&git, commit, plan).await,
        None => None,
    };
    match known {
        Some(trusted) => KnownPlan::new(Some(trusted), Titles::default()),
        None if !project.root.path().join(plan).exists() => KnownPlan::default(),
        None => KnownPlan::new(None, titles_of_commits(&git, plan, trusted, local, by_person).await),
    }
}

/// The plan of a commit; none where it has none.
async fn plan_at(git: &Git, commit: &str, plan: &str) -> Option<TrustedPlan> {
    let bytes = git.file_at(commit, plan).await.ok().flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    let tasks = plan::parse(&Source::new(plan, &text)).plan.tasks;
    (!tasks.is_empty()).then(|| TrustedPlan { commit: commit.to_owned(), tasks })
}

/// The titles of the other plans of the trusted commit, and those that this plan has on the local default branch.
async fn titles_of_commits(
    git: &Git,
    plan: &str,
    trusted: Option<String>,
    local: Option<String>,
    by_person: bool,
) -> Titles {
    let mut titles = Titles::default();
    titles.none_done = by_person;
    let mut plans = vec![];
    if let Some(commit) = trusted {
        let files = git.files_with(&commit, plan::PHASE, "*.md").await;
        titles.too_many = files.as_ref().map_or(true, |files| files.len() > PLANS_MAX);
        let files = files.unwrap_or_default().into_iter().take(PLANS_MAX);
        plans.extend(files.map(|file| (commit.clone(), file)));
    }
    plans.extend(local.map(|commit| (commit, plan.to_owned())));
    for (commit, file) in plans {
        let found = plan_at(git, &commit, &file).await;
        found.iter().flat_map(|found| &found.tasks).for_each(|task| titles.add(&task.title));
    }
    titles
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

/// What in a plan is read otherwise than it may be meant. A plan that cannot be read is reported elsewhere.
pub fn plan_warnings(project: &Project, plan: &str) -> Vec<String> {
    let reading = read_plan(&project.root.path().join(plan)).ok().flatten();
    reading.iter().flat_map(|reading| &reading.warnings).map(warning).collect()
}

/// Sets the status of a task after a decision about its review.
pub async fn decided(project: &Project, ledger: &Ledger, stored: &Stored) -> Result<(), Failure> {
    let tasks = tasks_of(project, plan::FILE, ledger.clone()).await?;
    if let Some(mut task) = task_of(&tasks, &stored.review.subject).await? {
        after_decision(&tasks, &mut task, &stored.review, now()).await?;
    }
    Ok(())
}

/// The plan of a gate, and what to say where another one was named: an agent does not choose it.
pub fn plan_of_gate(named: &str, mark: Option<String>) -> (&str, Option<String>) {
    match mark {
        Some(mark) if named != plan::FILE => {
            let words =
                format!("--plan is ignored: {mark}, and an agent does not choose the plan of its task");
            (plan::FILE, Some(words))
        }
        _ => (named, None),
    }
}

/// The time, in milliseconds and in words.
pub fn now() -> (i64, String) {
    let ms = now_ms();
    // Whole seconds, as existing plans have them.
    (ms, rfc3339(ms - ms.rem_euclid(1000)).unwrap_or_default())
}
