//! One task: attempts until it is merged, fails for good, waits for a person, or the run stops.

use super::attempt::{Failure, Halt, Retry};
use super::believed;
use super::checkpoint::{Checkpoint, ReviewRecord};
use super::log::Log;
use super::merging;
use super::record::Entry;
use super::repo::WorkLocation;
use super::run::{Run, RunError};
use super::settings::seconds;
use super::state::{Attempt, ErrorCode, TaskState};
use super::tasks::{Status, Task};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::progress::ProgressEvent;
use countersign_core::text::{cut, visible_line};
use std::ops::Deref;
use std::time::Instant;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// It is merged, or left uncommitted in the files.
    Done {
        commit: Option<String>,
        review: String,
        review_id: Option<ReviewId>,
    },
    Failed {
        code: ErrorCode,
        error: String,
        outcome: Outcome,
    },
    Awaits {
        review: ReviewId,
    },
    /// The run stopped; the next run goes on with the task.
    Stopped,
}

impl TaskEnd {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Done { .. } => Outcome::Passed,
            Self::Failed { outcome, .. } => *outcome,
            Self::Awaits { .. } => Outcome::AwaitingPerson,
            Self::Stopped => Outcome::Interrupted,
        }
    }
}

pub(super) struct TaskRun<'r> {
    pub run: &'r Run,
    pub task: &'r Task,
    pub checkpoint: Checkpoint,
    pub log: Log,
    started: Instant,
}

impl Deref for TaskRun<'_> {
    type Target = Run;

    fn deref(&self) -> &Run {
        self.run
    }
}

impl Run {
    pub(super) async fn task(&self, task: &Task) -> Result<TaskEnd, RunError> {
        let mut checkpoint = self.checkpoint(task).await?;
        self.repo.begin(&checkpoint.place, &checkpoint.base).await?;
        self.save(&task.id, &checkpoint).await?;
        self.state.begin_attempt(&task.id, &(self.now)()).await?;
        self.tasks.set(&task.id, Status::InProgress, &(self.now)())?;
        loop {
            let log = Log::open(&self.layout.logs(), &task.id, checkpoint.attempt);
            let log = log.map_err(RunError::io("the log cannot be written"))?;
            self.say(ProgressEvent::Began {
                task: task.id.clone(),
                name: task.name.clone(),
                attempt: checkpoint.attempt,
                of: (self.settings.config.max_retries.saturating_add(checkpoint.allowance))
                    .max(checkpoint.attempt),
            });
            let mut work = TaskRun { run: self, task, checkpoint, log, started: Instant::now() };
            let failure = match work.attempt_and_merge().await {
                Ok(end) => return Ok(end),
                Err(Halt::Awaits(review)) => return work.awaits(review).await,
                Err(Halt::Stopped) => return Ok(TaskEnd::Stopped),
                Err(Halt::Broken(error)) => return Err(error),
                Err(Halt::Failed(failure)) => *failure,
            };
            if !work.record_failure(&failure).await? {
                return work.failed(failure).await;
            }
            checkpoint = work.checkpoint.next(failure.error);
            if failure.retry == Retry::Granted && checkpoint.counted() > self.settings.config.max_retries {
                checkpoint.allowance += 1;
            }
            self.save(&task.id, &checkpoint).await?;
            if !self.pause().await {
                return Ok(TaskEnd::Stopped);
            }
        }
    }

    async fn checkpoint(&self, task: &Task) -> Result<Checkpoint, RunError> {
        let folder = self.settings.worktrees.join(task.id.to_lowercase());
        if let Some(mut checkpoint) = Checkpoint::load(&self.state, &task.id).await? {
            checkpoint.merging = None;
            if let (Some(_), WorkLocation::Branch { branch }) = (self.settings.at_once, &checkpoint.place)
                && self.repo.checked_out().await? != *branch
            {
                // It was shelved by a run without worktrees; this run has them.
                checkpoint.place = WorkLocation::Worktree { folder, branch: branch.clone() };
            }
            return self.with_known_base(task, checkpoint).await;
        }
        let branch = branch_name(&task.id, &task.name);
        let (base, place) = if self.settings.uses_branches() {
            let base = self.repo.start(&branch).await?;
            let place = match self.settings.at_once {
                Some(_) => WorkLocation::Worktree { folder, branch },
                None => WorkLocation::Branch { branch },
            };
            (base, place)
        } else {
            let base = self.repo.snapshot(&self.left_out()).await?;
            self.record(Entry::RunBase { task: task.id.clone(), base: base.clone() }).await?;
            (base, WorkLocation::Here)
        };
        let previous_error = self.last_error(&task.id).await?;
        Ok(Checkpoint { previous_error, ..Checkpoint::new(base, place) })
    }

    /// What went wrong in the last attempt at a task, and what was found, where it has no checkpoint.
    async fn last_error(&self, task: &str) -> Result<Option<String>, RunError> {
        let last = self.state.attempts(task, 1).await?.into_iter().next().map(|(_, last)| last);
        let Some(last) = last.filter(|last| !last.success) else { return Ok(None) };
        let error = last.error.unwrap_or_default();
        let found = last.review_findings.filter(|found| !error.contains(found.as_str()));
        let words: Vec<String> = [error].into_iter().chain(found).filter(|text| !text.is_empty()).collect();
        Ok((!words.is_empty()).then(|| words.join("\n")))
    }

    pub(super) async fn done(
        &self,
        id: &str,
        commit: Option<String>,
        review_id: Option<&ReviewId>,
        review: &str,
    ) -> Result<(), RunError> {
        let review_id = review_id.map(ToString::to_string);
        let done = Entry::RunDone { task: id.to_owned(), commit: commit.clone(), review: review_id };
        self.record(done).await?;
        self.tasks.set(id, Status::Done, &(self.now)())?;
        Checkpoint::forget(&self.state, id).await?;
        self.say(ProgressEvent::Done { task: id.to_owned(), review: review.to_owned(), commit });
        Ok(())
    }

    pub(super) async fn shelve(
        &self,
        task: &Task,
        checkpoint: &Checkpoint,
        why: &str,
    ) -> Result<(), RunError> {
        let change = self.change(checkpoint).await?;
        let tree = match change {
            Some(change) => change.tree,
            None => Some(self.repo.tree(&checkpoint.base).await?),
        };
        let message = format!("{}: {} ({why})", task.id, task.name);
        Ok(self.repo.shelve(&checkpoint.place, tree.as_deref(), &checkpoint.base, &message).await?)
    }

    /// Waits before the next attempt; false where the run stops.
    async fn pause(&self) -> bool {
        tokio::select! {
            () = tokio::time::sleep(seconds(self.settings.config.retry_delay_seconds)) => !self.stop.is_cancelled(),
            () = self.stop.cancelled() => false,
        }
    }
}

impl TaskRun<'_> {
    pub(super) async fn save(&self) -> Result<(), RunError> {
        self.run.save(&self.task.id, &self.checkpoint).await
    }

    /// One attempt with its merge. The merge is recorded last; the ledger has the verdict already.
    async fn attempt_and_merge(&mut self) -> Result<TaskEnd, Halt> {
        let mut ready = self.attempt().await?;
        let commit = match self.merge(&mut ready).await {
            Err(Halt::Failed(failure)) => {
                let review = failure.review.clone().or(Some(ready.review));
                return Err(Failure { review, ..*failure }.into());
            }
            merged => merged?,
        };
        self.record(Ok(&ready.review), &TaskState::Success).await?;
        let (review, review_id) = (ready.review.status.word().to_owned(), ready.review.id);
        self.done(&self.task.id, commit.clone(), review_id.as_ref(), &review).await?;
        Ok(TaskEnd::Done { commit, review, review_id })
    }

    async fn awaits(self, review: ReviewId) -> Result<TaskEnd, RunError> {
        let id = &self.task.id;
        self.say(ProgressEvent::Awaits { task: id.clone(), review: review.clone() });
        self.shelve(self.task, &self.checkpoint, "awaits a person").await?;
        self.tasks.set(id, Status::Review, &(self.now)())?;
        Ok(TaskEnd::Awaits { review })
    }

    /// Whether another attempt follows.
    async fn record_failure(&self, failure: &Failure) -> Result<bool, RunError> {
        let again = match failure.retry {
            Retry::WhileLeft => self.checkpoint.counted() < self.settings.config.max_retries,
            Retry::Granted => true,
            Retry::No => false,
        };
        let state = if again { TaskState::Running } else { TaskState::Failed };
        self.record(Err(failure), &state).await?;
        let error = in_a_line(&failure.error);
        self.say(ProgressEvent::Failed { task: self.task.id.clone(), error, again });
        Ok(again)
    }

    async fn failed(self, failure: Failure) -> Result<TaskEnd, RunError> {
        self.shelve(self.task, &self.checkpoint, "not merged").await?;
        // Without a verdict, or with a refused merge, the work is done and only the review or the merge is missing.
        let unjudged = matches!(failure.outcome, Outcome::NoVerdict(_) | Outcome::BudgetReached)
            && failure.review.is_some();
        let waits = [merging::refused(), believed::main_moved()].contains(&failure.code);
        let is_done = unjudged || waits;
        let left =
            if is_done { self.checkpoint.clone() } else { self.checkpoint.next(failure.error.clone()) };
        self.run.save(&self.task.id, &left).await?;
        // The next run goes on by itself, unless the budget is used up.
        let by_itself = is_done && failure.outcome != Outcome::BudgetReached;
        let status = if by_itself { Status::Review } else { Status::Blocked };
        self.tasks.set(&self.task.id, status, &(self.now)())?;
        Ok(TaskEnd::Failed { code: failure.code, error: failure.error, outcome: failure.outcome })
    }

    async fn record(&self, end: Result<&ReviewRecord, &Failure>, state: &TaskState) -> Result<(), RunError> {
        let review = end.map_or_else(|failure| failure.review.as_ref(), Some);
        let attempt = Attempt::new(&(self.now)(), end.is_ok(), self.started.elapsed().as_secs_f64());
        let mut attempt = attempt.reviewed(review);
        let count = |tokens: Option<u64>| tokens.and_then(|tokens| i64::try_from(tokens).ok());
        attempt.output = self.checkpoint.reply.clone();
        (attempt.input_tokens, attempt.output_tokens) =
            (count(self.checkpoint.tokens_in), count(self.checkpoint.tokens_out));
        #[expect(clippy::cast_precision_loss, reason = "costs are far below 2^52 microdollars")]
        let dollars = |micro: u64| micro as f64 / 1e6;
        attempt.cost_usd = self.checkpoint.cost_microusd.map(dollars);
        if let Err(failure) = end {
            attempt.error = Some(failure.error.clone());
            attempt.error_code = Some(failure.code.clone());
        }
        self.state.finish_attempt(&self.task.id, &attempt, state).await?;
        Ok(())
    }
}

/// The branch of a task: `task/<id>-<slug>`.
fn branch_name(id: &str, name: &str) -> String {
    const SLUG_CHARS: usize = 40;
    let name = name.to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    let branch = format!("task/{}-{}", id.to_lowercase(), cut(&slug, SLUG_CHARS));
    branch.trim_end_matches('-').to_owned()
}

/// An error on one line: its first line, and what follows as long as a line ends with a colon.
pub fn in_a_line(error: &str) -> String {
    let lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        if !line.ends_with(':') {
            break;
        }
        text.push(' ');
    }
    visible_line(text.trim_end().trim_end_matches(':')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_its_task() {
        for (id, name, branch) in [
            ("TASK-001", "Add API endpoints", "task/task-001-add-api-endpoints"),
            ("BUG-7", "  Größe & Maß!! ", "task/bug-7-gr-e-ma"),
            ("T-1", "日本語", "task/t-1"),
            ("T-1", "..lock ~^: @{", "task/t-1-lock"),
        ] {
            assert_eq!(branch_name(id, name), branch);
        }
        assert!(branch_name("T-1", &"x".repeat(200)).len() < 60);
    }

    #[test]
    fn a_line_says_why() {
        for (error, line) in [
            ("", ""),
            ("the agent took too long", "the agent took too long"),
            ("the review found:\n\nMAJOR: a\nMINOR: b", "the review found: MAJOR: a"),
            ("`true` failed: exit code 1\nmore", "`true` failed: exit code 1"),
            ("the review found:\n1 issue found:\n  MAJOR: a", "the review found: 1 issue found: MAJOR: a"),
            ("nothing follows:", "nothing follows"),
        ] {
            assert_eq!(in_a_line(error), line);
        }
    }
}
