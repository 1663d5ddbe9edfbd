//! The status of a project: tasks of runs, open reviews and workflows, and how reviews ended.

use crate::Failure;
use crate::answer::v1::{ActiveReview, Answer, Reviews, RunTask, Status, Workflow};
use crate::log::reviews;
use crate::project::Project;
use crate::reconcile::{claimed, disagreements};
use crate::run_project::RunProject;
use countersign_core::outcome::Outcome;
use countersign_core::review::State;
use countersign_core::text;
use countersign_doors::jobs::overview::under_way;
use countersign_doors::run::record::{RunRecord, without};
use countersign_doors::run::state::{self, Of, Summary};
use countersign_doors::run::status::{TaskLine, counts, standings};
use countersign_doors::run::task_file;
use countersign_doors::run::tasks::Reading;
use countersign_doors::service::active::active;
use countersign_engine::ledger::{Count, Filter, Ledger};

pub const OPEN_ROWS: u32 = 50;
/// How many sessions are searched for workflows under way.
const SESSIONS: u32 = 50;

/// Reads the status of a project. `whole` reads everything about tasks of runs: with many tasks that takes longer than
/// all else, and text shows little of it.
pub async fn look(
    project: &Project,
    ledger: Option<&Ledger>,
    whole: bool,
) -> Result<Answer<Status>, Failure> {
    let mut warnings = vec![];
    let (tasks, counted) = tasks(project, ledger, whole, &mut warnings).await?.unzip();
    let status = match ledger {
        None => Status::default(),
        Some(ledger) => {
            Status { disagreements: disagreements(project, ledger).await?, ..of_reviews(ledger).await? }
        }
    };
    let status = Status { tasks, counted: counted.unwrap_or_default(), ..status };
    Ok(Answer::passed(status).warned(warnings))
}

async fn of_reviews(ledger: &Ledger) -> Result<Status, Failure> {
    let filter = Filter { open_only: true, before: None, limit: OPEN_ROWS };
    let Reviews { reviews: open, more, .. } = reviews(Some(ledger), None, filter).await?;
    let mut ends = ledger.counts().await?;
    ends.retain(|count| matches!(count.state, State::Settled(_)));
    let workflows = under_way(ledger, SESSIONS).await;
    let workflows = workflows.map_err(|refusal| Failure::internal(refusal.to_string()))?;
    Ok(Status {
        open,
        open_more: more,
        workflows: workflows.into_iter().map(Workflow::from).collect(),
        task_reviews: active(ledger).await?.iter().map(ActiveReview::from).collect(),
        ended: ends.iter().map(ended).collect(),
        ends,
        has_ledger: true,
        ..Status::default()
    })
}

fn ended(count: &Count) -> (String, u64) {
    let name = count.standing.map_or("", Outcome::name);
    let key = match count.standing.and_then(Outcome::reason) {
        Some(reason) => format!("{name}/{reason}"),
        None => name.to_owned(),
    };
    (key, count.reviews)
}

/// The tasks of runs, and how many are in which state; none without a list of tasks.
async fn tasks(
    project: &Project,
    ledger: Option<&Ledger>,
    whole: bool,
    warnings: &mut Vec<String>,
) -> Result<Option<(Vec<RunTask>, String)>, Failure> {
    let run = RunProject::of(project)?;
    if !run.has_tasks() {
        return Ok(None);
    }
    let name = run.layout.tasks_name();
    // With many tasks both are slow, so the list is read while the database is.
    let path = run.layout.tasks();
    let reading = tokio::task::spawn_blocking(move || task_file::read(&path));
    let summaries = state::look(&run.layout, if whole { Of::Whole } else { Of::Line }).await;
    let reading = reading.await.map_err(|error| Failure::internal(error.to_string()))?;
    let Reading { mut list, problems, .. } = reading?;
    if let Some(ledger) = ledger {
        let record = RunRecord::load(ledger, &run.layout).await?;
        list = without(list.clone(), &claimed(&run, project, &record, &list).await);
    }
    let summaries = summaries?.unwrap_or_default();
    let standings = standings(&list, &summaries);
    warnings.extend(problems.map(|problems| {
        let count = problems.listed.len() + problems.left_out;
        let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
        format!("{name} has {mistakes}, and tasks may be missing here: `countersign validate` shows where")
    }));
    let counted = counted(&standings, &summaries, &name);
    Ok(Some((standings.iter().map(RunTask::from).collect(), counted)))
}

fn counted(standings: &[TaskLine<'_>], summaries: &[Summary], name: &str) -> String {
    let of_each: Vec<_> =
        counts(standings).into_iter().map(|(state, count)| format!("{count} {state}")).collect();
    let mut text = match standings.len() {
        0 => format!("no tasks in {name}"),
        1 => format!("1 task: {}", of_each.join(", ")),
        several => format!("{several} tasks: {}", of_each.join(", ")),
    };
    let known = standings.iter().filter(|standing| standing.summary.is_some()).count();
    if let Some(more @ 1..) = summaries.len().checked_sub(known) {
        let more = text::counted(more, "more task ran before and is", "more tasks ran before and are");
        text.push_str(&format!("; {more} no longer in {name}"));
    }
    text
}
