//! The order of tasks, and the loop that runs them one after the other or several at once.

use super::believed;
use super::checkpoint::Checkpoint;
use super::config::OnFailure;
use super::layout::Layout;
use super::repo::WorkLocation;
use super::run::{Run, RunError, listed};
use super::state::{ErrorCode, Summary, TaskState};
use super::task::TaskEnd;
use super::tasks::{Status, Task, TaskList};
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::progress::{ProgressEvent, Stage};
use countersign_core::text::counted;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    Milestone(String),
    /// These, in the order in which they can run.
    These(Vec<String>),
    Next,
}

#[derive(Debug, Default)]
pub struct Results {
    pub ends: BTreeMap<String, TaskEnd>,
    pub left: BTreeMap<String, Left>,
    pub stopped: Option<String>,
    /// Whether something else than this run moved the main branch.
    pub main_moved: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub why: String,
    /// The outcome for the run: a task that is not done has not passed.
    pub outcome: Outcome,
}

impl Results {
    pub fn outcome(&self) -> Outcome {
        let ends = self.ends.values().map(TaskEnd::outcome);
        let left = self.left.values().map(|left| left.outcome);
        let moved = self.main_moved.then_some(Outcome::AwaitingPerson);
        Outcome::worst(ends.chain(left).chain(moved)).unwrap_or(Outcome::Passed)
    }
}

impl Run {
    pub async fn order(&self, which: &Selection) -> Result<Vec<Task>, RunError> {
        let mut list = self.list().await?;
        let known = self.summaries().await?;
        let mut order = vec![];
        let mut seen = HashSet::new();
        while let Some(task) = self.candidates(&list, which, &known, &seen).into_iter().next().cloned() {
            seen.insert(task.id.clone());
            list = list.with_status(&task.id, Status::Done);
            order.push(task);
            if *which == Selection::Next {
                break;
            }
        }
        Ok(order)
    }

    pub async fn run(self: &Arc<Self>, which: &Selection) -> Result<Results, RunError> {
        let mut results = Results::default();
        self.check_named(which)?;
        self.prepare_integration().await?;
        self.begin_record().await?;
        self.reconcile().await?;
        if self.settings.at_once.is_none() {
            self.check_clean().await?;
            self.enter_integration().await?;
        }
        let at_once = self.settings.at_once.unwrap_or(1).max(1);
        let mut running: JoinSet<(Task, Result<TaskEnd, RunError>)> = JoinSet::new();
        let mut begun: HashSet<String> = HashSet::new();
        let mut failures = 0;
        loop {
            results.stopped = results.stopped.take().or_else(|| self.stop_reason());
            if results.stopped.is_none() && running.is_empty() {
                results.stopped = self.left_in_folder().await?;
            }
            if results.stopped.is_none() {
                let begins = self.begin(which, at_once, &mut begun, &mut running, &mut results.left).await;
                self.or_end(begins, &mut running).await?;
            }
            let Some(ended) = running.join_next().await else { break };
            let (task, ended) =
                ended.map_err(io::Error::other).map_err(RunError::io("a task ended unexpectedly"))?;
            let end = self.or_end(ended, &mut running).await?;
            failures = match &end {
                TaskEnd::Failed { .. } => failures + 1,
                TaskEnd::Done { .. } => 0,
                TaskEnd::Awaits { .. } | TaskEnd::Stopped => failures,
            };
            if results.stopped.is_none() {
                results.stopped = self.stops_after(&task.id, &end, failures).await;
            }
            if let Some(words) = self.check_main().await? {
                (results.main_moved, results.stopped) = (true, Some(words));
            }
            results.ends.insert(task.id, end);
        }
        self.add_left(which, &mut results).await?;
        self.leave_integration().await?;
        Ok(results)
    }

    /// An error ends the run after what is under way.
    async fn or_end<T>(
        &self,
        done: Result<T, RunError>,
        running: &mut JoinSet<(Task, Result<TaskEnd, RunError>)>,
    ) -> Result<T, RunError> {
        if done.is_err() {
            self.stop.cancel();
            while running.join_next().await.is_some() {}
            // The error is told; that the main branch could not be checked out again is less.
            let _ = self.leave_integration().await;
        }
        done
    }

    async fn begin(
        self: &Arc<Self>,
        which: &Selection,
        at_once: usize,
        begun: &mut HashSet<String>,
        running: &mut JoinSet<(Task, Result<TaskEnd, RunError>)>,
        refused: &mut BTreeMap<String, Left>,
    ) -> Result<(), RunError> {
        if running.len() >= at_once || (*which == Selection::Next && !begun.is_empty()) {
            return Ok(());
        }
        let list = self.list().await?;
        let known = self.summaries().await?;
        let mut next = self.decided(&list).await?;
        next.retain(|task| !begun.contains(&task.id) && is_selected(task, which));
        next.extend(self.candidates(&list, which, &known, begun).into_iter().cloned());
        for task in next {
            if running.len() >= at_once || (*which == Selection::Next && !running.is_empty()) {
                break;
            }
            begun.insert(task.id.clone());
            if let Some(left) = self.refused(&task, known.get(&task.id)).await? {
                refused.insert(task.id, left);
                continue;
            }
            let run = self.clone();
            running.spawn(async move {
                let ended = run.task(&task).await;
                (task, ended)
            });
        }
        Ok(())
    }

    /// Why no agent is paid for a task: its attempts are used up, or its review is stopped. An agent is paid only where
    /// everything else is there.
    async fn refused(&self, task: &Task, known: Option<&Summary>) -> Result<Option<Left>, RunError> {
        let checkpoint = Checkpoint::load(&self.state, &task.id).await?;
        if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.stage != Stage::Agent) {
            return Ok(None);
        }
        let most = self.settings.config.max_retries;
        let has_failed = known.is_some_and(|known| known.state == TaskState::Failed);
        if has_failed && checkpoint.is_some_and(|checkpoint| checkpoint.counted() > most) {
            let words = format!("{} used up", counted(most, "attempt is", "attempts are"));
            return Ok(Some(stopped(task, &words, Stop::AttemptsUsedUp)));
        }
        if let Some(review) = self.stopped_review(&task.id).await?
            && let Some(Outcome::Stopped(why)) = review.standing()
        {
            let words = format!("its review {} is stopped ({})", review.id, Outcome::Stopped(why));
            return Ok(Some(stopped(task, &words, why)));
        }
        self.check_ready().await?;
        Ok(None)
    }

    /// Tasks that can run now. A failed task runs again only where it is named, and a rejected one not even then.
    fn candidates<'l>(
        &self,
        list: &'l TaskList,
        which: &Selection,
        known: &HashMap<String, Summary>,
        begun: &HashSet<String>,
    ) -> Vec<&'l Task> {
        let named = matches!(which, Selection::These(_));
        let may = |task: &&Task| match known.get(&task.id) {
            Some(summary) if is_rejected(summary) => false,
            Some(summary) if summary.state == TaskState::Failed => named,
            _ => true,
        };
        let mut ready = list.ready();
        if named {
            let waits = |task: &&Task| task.status == Status::Blocked && list.waits_for(task).is_empty();
            ready.extend(list.tasks().iter().filter(waits));
        }
        let meant = |task: &&Task| is_selected(task, which) && !begun.contains(&task.id);
        ready.into_iter().filter(meant).filter(may).collect()
    }

    fn check_named(&self, which: &Selection) -> Result<(), RunError> {
        let Selection::These(ids) = which else { return Ok(()) };
        let list = self.tasks.read()?;
        match ids.iter().find(|id| list.get(id).is_none()) {
            Some(id) => Err(RunError::NoTask(id.clone())),
            None => Ok(()),
        }
    }

    /// Files in the project's worktree that would become part of the next task, such as edits of a person at the gate of the
    /// last one: neither was made or judged with them. Also those that the index of the user hides.
    async fn left_in_folder(&self) -> Result<Option<String>, RunError> {
        let is_shared = self.settings.at_once.is_none() && self.settings.uses_branches();
        if !is_shared || self.repo.checked_out().await? != self.repo.main {
            return Ok(None);
        }
        let main = Checkpoint::new(self.repo.main_tip().await?, WorkLocation::Here);
        let Some(left) = self.change(&main).await? else { return Ok(None) };
        let files = listed(&left.files.into_iter().map(|file| file.path).collect::<Vec<_>>());
        Ok(Some(format!(
            "the next task would include files that are not committed: {files}. Commit or stash them, and run again"
        )))
    }

    /// Fails where uncommitted files in the project's worktree would become part of a task.
    async fn check_clean(&self) -> Result<(), RunError> {
        if !self.settings.uses_branches() {
            return Ok(());
        }
        let here = self.repo.checked_out().await?;
        if here != self.repo.main {
            let list = self.tasks.read()?;
            for task in list.tasks() {
                let Some(checkpoint) = Checkpoint::load(&self.state, &task.id).await? else { continue };
                if matches!(&checkpoint.place, WorkLocation::Branch { branch } if *branch == here) {
                    return self.check_resumable(task, &checkpoint).await;
                }
            }
        }
        let tasks = self.layout.tasks_name();
        let own = |path: &Path| {
            Layout::is_state(path) || path == Path::new(&tasks) || path.starts_with(".countersign")
        };
        match self.repo.dirty(own).await? {
            files if files.is_empty() => Ok(()),
            files => Err(RunError::Dirty(files)),
        }
    }

    /// An interrupted task goes on where it is, unless it changed files that this run read its settings from.
    async fn check_resumable(&self, task: &Task, checkpoint: &Checkpoint) -> Result<(), RunError> {
        let Some(change) = self.change(checkpoint).await? else { return Ok(()) };
        let gate_files = change.gate_files();
        if gate_files.is_empty() {
            return Ok(());
        }
        self.shelve(task, checkpoint, "interrupted").await?;
        Err(RunError::Configuration(format!(
            "{} was interrupted after it changed {}, the settings file of this run. Its work is saved on its branch, and `{}` is checked out now. Run the command again",
            task.id,
            gate_files.join(", "),
            self.repo.main
        )))
    }

    fn stop_reason(&self) -> Option<String> {
        if self.stop.is_cancelled() {
            return Some("it was interrupted".to_owned());
        }
        self.layout.stop().exists().then(|| "`countersign stop` was called".to_owned())
    }

    async fn stops_after(&self, task: &str, end: &TaskEnd, failures: u32) -> Option<String> {
        let TaskEnd::Failed { error, outcome, code, .. } = end else { return None };
        if *code == ErrorCode::BudgetExceeded || *code == believed::main_moved() {
            return Some(error.clone());
        }
        if failures >= self.settings.config.max_consecutive_failures {
            return Some(format!(
                "the limit of failures in a row is reached: {}",
                counted(failures, "task", "tasks")
            ));
        }
        // Without an agent, the next task fails too.
        if matches!(outcome, Outcome::NoVerdict(_)) && *code == ErrorCode::Infrastructure && failures > 1 {
            return Some(error.clone());
        }
        let on = match self.settings.config.on_task_failure {
            OnFailure::Skip => true,
            OnFailure::Stop => false,
            OnFailure::Ask => self.people.go_on(task, error).await,
        };
        (!on).then(|| format!("{task} failed"))
    }

    async fn add_left(&self, which: &Selection, results: &mut Results) -> Result<(), RunError> {
        if *which == Selection::Next && !results.ends.is_empty() {
            return Ok(());
        }
        let list = self.list().await?;
        let known = self.summaries().await?;
        let open = |task: &&Task| !matches!(task.status, Status::Done) && is_selected(task, which);
        for task in list.tasks().iter().filter(open) {
            if results.ends.contains_key(&task.id) || results.left.contains_key(&task.id) {
                continue;
            }
            let rejected = known.get(&task.id).filter(|known| is_rejected(known));
            let left = match (rejected, self.claim_words(task).await) {
                (None, Some(why)) => Left { why, outcome: Outcome::AwaitingPerson },
                (Some(_), _) => Left {
                    why: format!(
                        "a person rejected it; a person can run `countersign retry {}` to try it again",
                        task.id
                    ),
                    outcome: Outcome::Stopped(Stop::Rejected),
                },
                (None, None) => left(task, &list.waits_for(task), results.stopped.as_deref()),
            };
            results.left.insert(task.id.clone(), left);
        }
        for (task, left) in &results.left {
            self.say(ProgressEvent::Warning(format!("{task} did not run: {}", left.why)));
        }
        Ok(())
    }
}

fn left(task: &Task, waits: &[&str], stopped: Option<&str>) -> Left {
    let (why, outcome) = match (task.status, waits, stopped) {
        (Status::Review, ..) => ("it waits for a person".to_owned(), Outcome::AwaitingPerson),
        (Status::Blocked, ..) => {
            (format!("it is blocked: `countersign retry {}` tries it again", task.id), Outcome::NeedsWork)
        }
        (_, [], Some(stopped)) => (stopped.to_owned(), Outcome::NeedsWork),
        (_, [], None) => {
            (format!("it failed before: `countersign retry {}` tries it again", task.id), Outcome::NeedsWork)
        }
        (_, waits, _) => (format!("it waits for {}", waits.join(", ")), Outcome::NeedsWork),
    };
    Left { why, outcome }
}

fn stopped(task: &Task, words: &str, why: Stop) -> Left {
    let words = format!("{words}; `countersign retry {}` runs it again, with what was found", task.id);
    Left { why: words, outcome: Outcome::Stopped(why) }
}

/// Whether a person rejected it, so that only a person lets it run again.
pub(super) fn is_rejected(known: &Summary) -> bool {
    known.state == TaskState::Failed && known.error_code == Some(ErrorCode::ReviewRejected)
}

fn is_selected(task: &Task, which: &Selection) -> bool {
    match which {
        Selection::All | Selection::Next => true,
        Selection::Milestone(wanted) => task.in_milestone(wanted),
        Selection::These(ids) => ids.contains(&task.id),
    }
}
