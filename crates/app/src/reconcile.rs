//! Where files say something else than the ledger, and setting the files right. The ledger never follows a file.

use crate::answer::v1::{Answer, Disagreement, Reconciled};
use crate::author::actor;
use crate::project::Project;
use crate::run_project::RunProject;
use crate::tasks::tasks_in;
use crate::{Failure, run};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::Qr;
use countersign_doors::run::lock;
use countersign_doors::run::record::{RunRecord, done_in};
use countersign_doors::run::repo::Repo;
use countersign_doors::run::state::{self, Of, State, TaskState};
use countersign_doors::run::task_file::{self, TaskFile};
use countersign_doors::run::tasks::{Status, TaskList};
use countersign_doors::service::plan;
use countersign_engine::ledger::Ledger;
use std::collections::HashSet;

/// All disagreements. A file with mistakes has none here: `validate` names the mistakes.
pub async fn disagreements(project: &Project, ledger: &Ledger) -> Result<Vec<Disagreement>, Failure> {
    let mut all = of_plan(project, ledger).await?;
    all.extend(of_run(project, ledger).await?);
    for phase in phases(project, ledger).await? {
        let file = phase.dir.path().join(phase.phase.file_name()).display().to_string();
        let found = phase.disagreements().await.unwrap_or_default();
        all.extend(found.into_iter().map(|words| Disagreement {
            door: "qr",
            file: file.clone(),
            id: None,
            file_says: words,
            ledger_says: "it has the items and rulings".to_owned(),
        }));
    }
    Ok(all)
}

async fn phases(project: &Project, ledger: &Ledger) -> Result<Vec<Qr>, Failure> {
    Ok(Qr::all(ledger, &project.config.qr.gate, project.root.path()).await?)
}

async fn of_plan(project: &Project, ledger: &Ledger) -> Result<Vec<Disagreement>, Failure> {
    let tasks = tasks_in(project, plan::FILE, ledger.clone()).await?;
    let listed = tasks.list().await.unwrap_or_default();
    let of_task = |task: &countersign_doors::service::task::Task| {
        let (in_file, recorded) = task.disagreement()?;
        Some(Disagreement {
            door: "task",
            file: tasks.plan.clone(),
            id: Some(task.id.clone()),
            file_says: in_file.word().to_owned(),
            ledger_says: recorded.word().to_owned(),
        })
    };
    Ok(listed.iter().filter_map(of_task).collect())
}

/// The list of a run, and the tasks that it alone calls done; none without a list.
pub(crate) async fn claimed(
    run: &RunProject,
    project: &Project,
    record: &RunRecord,
    list: &TaskList,
) -> HashSet<String> {
    let claimed = record.claimed(list, &HashSet::new());
    if claimed.is_empty() {
        return claimed;
    }
    let main = run.settings.config.main_branch.as_deref();
    match Repo::open(project.root.path(), main).await {
        Ok(repo) => record.claimed(list, &repo.trusted_done(&run.layout).await),
        Err(_) => claimed,
    }
}

async fn of_run(project: &Project, ledger: &Ledger) -> Result<Vec<Disagreement>, Failure> {
    let run = RunProject::of(project)?;
    let record = RunRecord::load(ledger, &run.layout).await?;
    if !run.has_tasks() || !record.is_seen() {
        return Ok(vec![]);
    }
    let Ok(reading) = task_file::read(&run.layout.tasks()) else { return Ok(vec![]) };
    let list = reading.list;
    let claimed = claimed(&run, project, &record, &list).await;
    let done = done_in(&list);
    let summaries = state::look(&run.layout, Of::Line).await?.unwrap_or_default();
    let successes: HashSet<&str> = summaries
        .iter()
        .filter(|summary| summary.state == TaskState::Success)
        .map(|summary| summary.task_id.as_str())
        .collect();
    let one = |file: String, id: &str, file_says: &str, ledger_says: &str| Disagreement {
        door: "run",
        file,
        id: Some(id.to_owned()),
        file_says: file_says.to_owned(),
        ledger_says: ledger_says.to_owned(),
    };
    let name = run.layout.tasks_name();
    let database = run.layout.state_db();
    let database = database.strip_prefix(project.root.path()).unwrap_or(&database).display().to_string();
    let mut found = vec![];
    for task in list.tasks() {
        let id = task.id.as_str();
        if claimed.contains(id) {
            found.push(one(name.clone(), id, task.status.word(), "that no merge of it is recorded"));
        } else if record.is_done(id) && !done.contains(id) {
            found.push(one(name.clone(), id, task.status.word(), "that it is done"));
        }
        if successes.contains(id) && !record.is_done(id) && (claimed.contains(id) || !done.contains(id)) {
            found.push(one(database.clone(), id, "success", "that no merge of it is recorded"));
        }
    }
    Ok(found)
}

/// Sets files right from the ledger; with `dry_run` it only lists them.
pub async fn reconcile(project: &Project, dry_run: bool) -> Result<Answer<Reconciled>, Failure> {
    let Some(ledger) = project.existing_ledger().await? else {
        return Ok(Answer::passed(Reconciled { disagreements: vec![], dry_run }));
    };
    let disagreements = disagreements(project, &ledger).await?;
    if !dry_run {
        set_right(project, &ledger, &disagreements).await?;
    }
    ledger.close().await;
    let outcome = if dry_run && !disagreements.is_empty() { Outcome::NeedsWork } else { Outcome::Passed };
    Ok(Answer::new(Some(outcome), Reconciled { disagreements, dry_run }))
}

async fn set_right(project: &Project, ledger: &Ledger, found: &[Disagreement]) -> Result<(), Failure> {
    let of = |door: &str| found.iter().any(|one| one.door == door);
    if of("task") {
        let tasks = tasks_in(project, plan::FILE, ledger.clone()).await?;
        for task in tasks.list().await? {
            if let Some((_, recorded)) = task.disagreement() {
                tasks.set_right(&task, recorded)?;
            }
        }
    }
    if of("run") {
        set_run_right(project, ledger, found).await?;
    }
    if of("qr") {
        for phase in phases(project, ledger).await? {
            if !phase.disagreements().await?.is_empty() {
                phase.reconcile(&actor()).await?;
            }
        }
    }
    Ok(())
}

async fn set_run_right(project: &Project, ledger: &Ledger, found: &[Disagreement]) -> Result<(), Failure> {
    let RunProject { layout, .. } = RunProject::of(project)?;
    let failed = |error: std::io::Error| Failure::internal(format!("the lock cannot be read: {error}"));
    if lock::holder(&layout.lock()).map_err(failed)?.is_some() {
        return Err(
            Failure::usage("a run is under way").hint("wait for it, or end it with `countersign stop`")
        );
    }
    let record = RunRecord::load(ledger, &layout).await?;
    let (file, at) = (TaskFile::new(&layout), run::now());
    let tasks = found.iter().filter(|one| one.door == "run").filter_map(|one| Some((one, one.id.as_ref()?)));
    for (one, id) in tasks {
        let is_done = record.is_done(id);
        if one.file == layout.tasks_name() {
            let status = if is_done { Status::Done } else { Status::Todo };
            file.set(id, status, &at).map_err(|error| Failure::internal(error.to_string()))?;
        } else {
            let state = State::open(&layout).await?;
            state.set_status(id, &TaskState::Pending, &at).await?;
            state.close().await?;
        }
    }
    Ok(())
}
