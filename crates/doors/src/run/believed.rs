//! What a run believes of its files: the list of tasks with the statuses that the ledger supports, the bases and merges of
//! checkpoints that it recorded itself, and a main branch that only its own merges move.

use super::attempt::{Failure, Retry};
use super::checkpoint::Checkpoint;
use super::layout::Layout;
use super::record::{Entry, RunRecord, done_in};
use super::repo::{Repo, WorkLocation};
use super::run::{Run, RunError};
use super::state::ErrorCode;
use super::tasks::{Status, Task, TaskList, parse};
use countersign_core::outcome::Outcome;
use countersign_core::progress::ProgressEvent;
use countersign_engine::engine::EngineError;
use countersign_engine::yaml::Source;
use std::collections::HashSet;

/// Loaded when it is first needed, and kept up to date: the lock of the run keeps other writers out.
#[derive(Default)]
pub(super) struct Believed {
    record: RunRecord,
    /// Done at the trusted commit.
    trusted: HashSet<String>,
    /// Called done by the list when the run began, and by nothing else.
    claimed: HashSet<String>,
    /// The tasks as they were when the run began.
    defined: Option<TaskList>,
    /// The tip of the main branch after our last merge.
    main: Option<String>,
    /// The tip of the main branch when the run began, where tasks are merged into another one.
    trunk: Option<String>,
    is_loaded: bool,
}

pub(super) fn main_moved() -> ErrorCode {
    ErrorCode::Other("MAIN_MOVED".to_owned())
}

impl Repo {
    /// The tasks that are done at the trusted commit: the tip of the main branch, for a run when it begins.
    pub async fn trusted_done(&self, layout: &Layout) -> HashSet<String> {
        let Ok(Some(tip)) = self.tip(self.trunk()).await else { return HashSet::new() };
        let name = layout.tasks_name();
        let bytes = self.git.file_at(&tip, &name).await.ok().flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.map(|text| done_in(&parse(&Source::new(&name, &text)).list)).unwrap_or_default()
    }
}

impl Run {
    async fn load(&self, believed: &mut Believed) -> Result<(), RunError> {
        if !believed.is_loaded {
            let record = RunRecord::load(self.engine.ledger(), &self.layout).await;
            believed.record = record.map_err(EngineError::from)?;
            believed.trusted = self.repo.trusted_done(&self.layout).await;
            believed.claimed = believed.record.claimed(&self.tasks.read()?, &believed.trusted);
            believed.is_loaded = true;
        }
        Ok(())
    }

    /// The list. What it alone calls done is not: it is blocked where it was so when the run began, and to be done where
    /// it became so since then. In a run, only statuses change.
    pub(super) async fn list(&self) -> Result<TaskList, RunError> {
        let mut believed = self.believed.lock().await;
        self.load(&mut believed).await?;
        let mut list = self.tasks.read()?;
        for id in believed.record.claimed(&list, &believed.trusted) {
            let status = if believed.claimed.contains(&id) { Status::Blocked } else { Status::Todo };
            list = list.with_status(&id, status);
        }
        Ok(match &believed.defined {
            Some(defined) => list.defined_by(defined),
            None => list,
        })
    }

    /// Begins a run: records what a list that is new here calls done, and keeps tasks and main branch as they are.
    pub(super) async fn begin_record(&self) -> Result<(), RunError> {
        let list = self.list().await?;
        let main = self.repo.main_tip().await.ok();
        let trunk = match &self.repo.trunk {
            Some(trunk) => self.repo.tip(trunk).await?,
            None => None,
        };
        let is_seen = {
            let mut believed = self.believed.lock().await;
            (believed.main, believed.trunk) = (main, trunk);
            believed.defined = Some(list.clone());
            believed.record.is_seen()
        };
        if !is_seen {
            let mut done: Vec<String> = done_in(&list).into_iter().collect();
            done.sort();
            self.record(Entry::RunGiven { done }).await?;
        }
        Ok(())
    }

    pub(super) async fn record(&self, entry: Entry) -> Result<(), RunError> {
        let mut believed = self.believed.lock().await;
        self.load(&mut believed).await?;
        let added = believed.record.add(self.engine.ledger(), &self.layout, entry).await;
        Ok(added.map_err(EngineError::from)?)
    }

    /// Why a task that the list calls done is not; none where it is something else.
    pub(super) async fn claim_words(&self, task: &Task) -> Option<String> {
        let believed = self.believed.lock().await;
        let is_claimed = believed.claimed.contains(&task.id) && !believed.record.is_done(&task.id);
        is_claimed.then(|| {
            format!(
                "{} says that it is done, but no merge of it is recorded. If it is done, commit {} on `{}`; `countersign retry {}` runs it",
                self.layout.tasks_name(),
                self.layout.tasks_name(),
                self.repo.main,
                task.id
            )
        })
    }

    pub(super) async fn has_merge(&self, task: &str, commit: &str) -> bool {
        self.believed.lock().await.record.has_merge(task, commit)
    }

    /// A checkpoint whose base is on the main branch, or was recorded.
    pub(super) async fn with_known_base(
        &self,
        task: &Task,
        mut checkpoint: Checkpoint,
    ) -> Result<Checkpoint, RunError> {
        let base = match &checkpoint.place {
            WorkLocation::Here => self.believed.lock().await.record.base(&task.id).map(str::to_owned),
            WorkLocation::Branch { branch } | WorkLocation::Worktree { branch, .. } => {
                match self.repo.is_merged(&checkpoint.base).await {
                    true => None,
                    false => Some(self.repo.start(branch).await?),
                }
            }
        };
        if let Some(base) = base.filter(|base| *base != checkpoint.base) {
            let words = format!(
                "the state database names {} as the commit that {} began from, which is not true: the change since {} is judged",
                short(&checkpoint.base),
                task.id,
                short(&base)
            );
            self.say(ProgressEvent::Warning(words));
            checkpoint.base = base;
        }
        Ok(checkpoint)
    }

    /// Commits of the main branch in a range that no run merged, a line each.
    pub(super) async fn unjudged(&self, from: &str, to: &str) -> Result<Vec<String>, RunError> {
        const NAMED: usize = 10;
        let commits = self.repo.first_parents(from, to).await?;
        let believed = self.believed.lock().await;
        let others = commits.into_iter().filter(|(commit, _)| !believed.record.is_own_merge(commit));
        Ok(others.map(|(_, line)| line).take(NAMED).collect())
    }

    pub(super) async fn main_is(&self, tip: &str) {
        self.believed.lock().await.main = Some(tip.to_owned());
    }

    /// Why the run must stop: the main branch moved, and not by a merge of this run. Callers hold the lock of merges.
    pub(super) async fn main_trouble(&self, tip: &str) -> Result<Option<String>, RunError> {
        let Some(known) = self.believed.lock().await.main.clone() else { return Ok(None) };
        if known == tip || !self.settings.uses_branches() {
            return Ok(None);
        }
        Ok(Some(self.moved_words(&self.repo.main, &known, tip).await))
    }

    async fn moved_words(&self, branch: &str, known: &str, tip: &str) -> String {
        let commits = self.unjudged(known, tip).await.unwrap_or_default();
        let commits = if commits.is_empty() { short(tip).to_owned() } else { commits.join("; ") };
        format!(
            "`{branch}` was moved during the run, and not by this run: {commits}. Check these commits, then run the command again"
        )
    }

    /// The same of a main branch that no task is merged into.
    async fn trunk_trouble(&self) -> Result<Option<String>, RunError> {
        let known = self.believed.lock().await.trunk.clone();
        let (Some(trunk), Some(known)) = (&self.repo.trunk, known) else { return Ok(None) };
        match self.repo.tip(trunk).await? {
            Some(tip) if tip != known => Ok(Some(self.moved_words(trunk, &known, &tip).await)),
            _ => Ok(None),
        }
    }

    pub(super) async fn check_main(&self) -> Result<Option<String>, RunError> {
        // A merge under way checks it itself.
        let Ok(_alone) = self.merging.try_lock() else { return Ok(None) };
        if let Some(words) = self.trunk_trouble().await? {
            return Ok(Some(words));
        }
        match self.repo.main_tip().await {
            Ok(tip) => self.main_trouble(&tip).await,
            Err(_) => Ok(None),
        }
    }
}

/// The failure of a task whose merge must wait, because the main branch moved. Its work is kept for the next run.
pub(super) fn moved(words: String) -> Failure {
    Failure { retry: Retry::No, outcome: Outcome::AwaitingPerson, ..Failure::of_work(main_moved(), words) }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
