//! Recovery before a run: unrecorded merges, statuses that a person edited, unfinished files and unused worktrees.

use super::checkpoint::Checkpoint;
use super::record::Entry;
use super::run::{Run, RunError};
use super::schedule::is_rejected;
use super::settings::HumanGate;
use super::state::{Attempt, Summary, TaskState};
use super::tasks::{Status, Task, TaskList};
use countersign_core::progress::ProgressEvent;
use countersign_core::review::State;
use countersign_engine::engine::EngineError;
use countersign_engine::workspace::UNFINISHED;
use std::collections::HashMap;

impl Run {
    pub(super) async fn reconcile(&self) -> Result<(), RunError> {
        self.sweep_unfinished();
        let list = self.list().await?;
        let known = self.summaries().await?;
        for task in list.tasks() {
            self.finish_merge(task, known.get(&task.id)).await?;
            self.follow_person(task, known.get(&task.id)).await?;
        }
        self.sweep_worktrees(&list).await
    }

    pub(super) async fn summaries(&self) -> Result<HashMap<String, Summary>, RunError> {
        let all = self.state.summaries().await?;
        Ok(all.into_iter().map(|summary| (summary.task_id.clone(), summary)).collect())
    }

    /// Records a merge that is on the main branch and was not recorded before a crash.
    async fn finish_merge(&self, task: &Task, known: Option<&Summary>) -> Result<(), RunError> {
        let Some(checkpoint) = Checkpoint::load(&self.state, &task.id).await? else { return Ok(()) };
        let Some(merging) = checkpoint.merging.clone() else { return Ok(()) };
        if !self.has_merge(&task.id, &merging.commit).await {
            let words = format!(
                "the state database has a merge of {} that the ledger does not have: it does not count",
                task.id
            );
            self.say(ProgressEvent::Warning(words));
            return self.save(&task.id, &Checkpoint { merging: None, ..checkpoint }).await;
        }
        if !self.repo.is_merged(&merging.commit).await {
            return Ok(());
        }
        self.repo.return_to_main(&checkpoint.place).await?;
        let review = format!("{}, recorded after an interruption", merging.review.status);
        if known.is_none_or(|known| known.state != TaskState::Success) {
            let attempt = Attempt::new(&(self.now)(), true, 0.0).reviewed(Some(&merging.review));
            self.state.finish_attempt(&task.id, &attempt, &TaskState::Success).await?;
        }
        self.done(&task.id, Some(merging.commit), merging.review.id.as_ref(), &review).await
    }

    /// Follows a status that a person wrote, except for a rejected task: an agent could have written that one.
    async fn follow_person(&self, task: &Task, known: Option<&Summary>) -> Result<(), RunError> {
        let Some(known) = known.filter(|known| !is_rejected(known)) else { return Ok(()) };
        let to = match (task.status, &known.state) {
            (Status::Done, TaskState::Pending | TaskState::Failed) => TaskState::Skipped,
            (Status::Todo, TaskState::Success | TaskState::Skipped | TaskState::Failed) => TaskState::Pending,
            _ => return Ok(()),
        };
        let words = format!(
            "{} is {} in {}, so its state is now {to}",
            task.id,
            task.status.word(),
            self.layout.tasks_name()
        );
        self.say(ProgressEvent::Warning(words));
        if task.status == Status::Todo {
            self.record(Entry::RunReopened { task: task.id.clone() }).await?;
            if let Some(checkpoint) = Checkpoint::load(&self.state, &task.id).await? {
                self.save(&task.id, &checkpoint.with_all_attempts()).await?;
            }
        }
        Ok(self.state.set_status(&task.id, &to, &(self.now)()).await?)
    }

    /// Removes files that a killed run was writing. The lock keeps other runs out.
    fn sweep_unfinished(&self) {
        let entries = std::fs::read_dir(self.layout.spec()).into_iter().flatten().flatten();
        let unfinished = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(UNFINISHED);
        for entry in entries.filter(|entry| unfinished(&entry.file_name())) {
            // A file that stays is part of no change.
            let _ = std::fs::remove_file(entry.path());
        }
    }

    async fn sweep_worktrees(&self, list: &TaskList) -> Result<(), RunError> {
        let mut needed = vec![];
        for task in list.tasks() {
            if let Some(checkpoint) = Checkpoint::load(&self.state, &task.id).await? {
                needed.push(self.repo.folder(&checkpoint.place).to_owned());
            }
        }
        for folder in self.repo.worktrees_below(&self.settings.worktrees).await? {
            if !needed.contains(&folder) {
                self.repo.remove_worktree(&folder).await?;
            }
        }
        Ok(())
    }

    /// Tasks in review that can go on: they are decided, or a person can be asked now.
    pub(super) async fn decided(&self, list: &TaskList) -> Result<Vec<Task>, RunError> {
        let mut decided = vec![];
        for task in list.tasks().iter().filter(|task| task.status == Status::Review) {
            let latest = self.engine.ledger().latest_for(&self.layout.subject(&task.id)).await;
            let latest = latest.map_err(EngineError::from)?;
            let asks = self.settings.human != HumanGate::Off;
            if latest.is_some_and(|stored| asks || stored.review.state != State::AwaitingPerson) {
                decided.push(task.clone());
            }
        }
        Ok(decided)
    }
}
