//! The part of `status` on tasks: a line for each with its verdict, where the project has a list of them.

use crate::cli::Failure;
use crate::output::dim;
use countersign_app::project::Project;
use countersign_app::run_project::RunProject;
use countersign_doors::run::state::{self, Of, Summary};
use countersign_doors::run::status::{Standing, counts, standings};
use countersign_doors::run::tasks::Reading;
use countersign_doors::run::tasks_file;
use serde_json::{Value, json};

/// What there is to say about tasks.
#[derive(Default)]
pub struct Tasks {
    /// For people.
    pub text: String,
    /// For programs: a list, or null where there is no list of tasks.
    pub json: Value,
    /// What people should know beside it.
    pub warnings: Vec<String>,
}

/// Looks at the tasks of a project; changes nothing. What only programs read is made for them alone: with many tasks it
/// is larger than everything else.
pub async fn look(project: &Project, for_programs: bool) -> Result<Tasks, Failure> {
    let run = RunProject::of(project)?;
    if !run.has_tasks() {
        return Ok(Tasks::default());
    }
    let name = run.layout.tasks_name();
    // With many tasks both take their time, so the list is read while the database is.
    let path = run.layout.tasks();
    let reading = tokio::task::spawn_blocking(move || tasks_file::read(&path));
    let of = if for_programs { Of::Whole } else { Of::Line };
    let summaries = state::look(&run.layout, of).await;
    let reading = reading.await.map_err(|error| Failure::internal(error.to_string()))?;
    let Reading { list, problems, .. } = reading?;
    let summaries = summaries?.unwrap_or_default();
    let standings = standings(&list, &summaries);
    let mut text: String = standings.iter().map(|standing| standing.line() + "\n").collect();
    text.push_str(&dim(&counted(&standings, &summaries, &name)));
    let warnings = problems.map(|problems| {
        let count = problems.listed.len() + problems.left_out;
        let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
        format!("{name} has {mistakes}, and tasks may be missing here: `countersign validate` shows where")
    });
    let json = if for_programs { standings.iter().map(task_json).collect() } else { Value::Null };
    Ok(Tasks { text, json, warnings: warnings.into_iter().collect() })
}

fn counted(standings: &[Standing<'_>], summaries: &[Summary], name: &str) -> String {
    let of_each: Vec<_> =
        counts(standings).into_iter().map(|(state, count)| format!("{count} {state}")).collect();
    let mut text = match standings.len() {
        0 => format!("no tasks in {name}"),
        1 => format!("1 task: {}", of_each.join(", ")),
        several => format!("{several} tasks: {}", of_each.join(", ")),
    };
    let known = standings.iter().filter(|standing| standing.summary.is_some()).count();
    if let Some(more @ 1..) = summaries.len().checked_sub(known) {
        text.push_str(&format!("; {more} more ran once and are not in {name} any more"));
    }
    text + "\n"
}

fn task_json(standing: &Standing<'_>) -> Value {
    let Standing { task, summary } = standing;
    json!({
        "id": task.id,
        "name": task.name,
        "priority": task.priority.word(),
        "status": task.status.word(),
        "milestone": task.milestone,
        "state": standing.state().word(),
        "attempts": summary.map_or(0, |summary| summary.attempts),
        "cost_usd": summary.and_then(|summary| summary.cost_usd),
        "error_code": summary.and_then(|summary| Some(summary.error_code.as_ref()?.word())),
        "review_status": summary.and_then(|summary| Some(summary.review_status.as_ref()?.word())),
        "issues": summary.map_or(0, |summary| summary.issues),
        "review": summary.and_then(|summary| summary.review_id.as_deref()),
    })
}
