//! One task: attempts until it is merged, fails for good, waits for a person, or the run stops. The steps of an attempt
//! are in `attempt`, the merge is in `merging`.

use super::attempt::{Failure, Halt, Retry};
use super::course::{Course, ReviewRecord};
use super::log::Log;
use super::merging;
use super::repo::Place;
use super::run::{Run, RunError};
use super::state::{Attempt, ErrorCode, TaskState};
use super::tasks::{Status, Task};
use countersign_core::happening::Happening;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::Outcome;
use countersign_core::text::visible_line;
use std::time::Instant;

/// How a task ended, for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// It is merged, or left uncommitted in the files.
    Done {
        /// The commit on the main branch.
        commit: Option<String>,
        /// The status of its review.
        review: String,
        /// The id of its review.
        review_id: Option<ReviewId>,
    },
    /// It failed for good.
    Failed {
        /// The code of the error.
        code: ErrorCode,
        /// The error.
        error: String,
        /// The outcome for the run.
        outcome: Outcome,
    },
    /// It waits for a person.
    Awaits {
        /// The review to decide about.
        review: ReviewId,
    },
    /// The run stopped; the next run goes on with the task.
    Stopped,
}

impl TaskEnd {
    /// The outcome for the run.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Done { .. } => Outcome::Passed,
            Self::Failed { outcome, .. } => *outcome,
            Self::Awaits { .. } => Outcome::AwaitingPerson,
            Self::Stopped => Outcome::Interrupted,
        }
    }
}

impl Run {
    /// Makes attempts at a task until it ends.
    pub(super) async fn task(&self, task: &Task) -> Result<TaskEnd, RunError> {
        let mut course = self.checkpoint(task).await?;
        self.repo.begin(&course.place, &course.base).await?;
        self.save(&task.id, &course).await?;
        self.state.begin_attempt(&task.id, &(self.now)()).await?;
        self.tasks.set(&task.id, Status::InProgress, &(self.now)())?;
        loop {
            let log = Log::open(&self.layout.logs(), &task.id, course.attempt);
            let log = log.map_err(RunError::io("the log cannot be written"))?;
            self.say(Happening::Began {
                task: task.id.clone(),
                name: task.name.clone(),
                attempt: course.attempt,
                of: self.settings.max_retries + course.allowance,
            });
            let started = Instant::now();
            let failure = match self.attempt_and_merge(task, &mut course, &log, started).await {
                Ok(end) => return Ok(end),
                Err(Halt::Awaits(review)) => return self.awaits(task, &course, review).await,
                Err(Halt::Stopped) => return Ok(TaskEnd::Stopped),
                Err(Halt::Broken(error)) => return Err(error),
                Err(Halt::Failed(failure)) => *failure,
            };
            let again = match failure.retry {
                Retry::WhileLeft => {
                    course.attempt.saturating_sub(course.allowance) < self.settings.max_retries
                }
                Retry::Granted => true,
                Retry::No => false,
            };
            let state = if again { TaskState::Running } else { TaskState::Failed };
            self.record(task, &course, started, Err(&failure), &state).await?;
            let error = in_a_line(&failure.error);
            self.say(Happening::Failed { task: task.id.clone(), error, again });
            if !again {
                return self.failed(task, &course, failure).await;
            }
            course = course.next(failure.error);
            self.save(&task.id, &course).await?;
            if !self.pause().await {
                return Ok(TaskEnd::Stopped);
            }
        }
    }

    /// The checkpoint of a task, or a new one.
    async fn checkpoint(&self, task: &Task) -> Result<Course, RunError> {
        let folder = self.settings.worktrees.join(task.id.to_lowercase());
        if let Some(mut course) = Course::load(&self.state, &task.id).await? {
            course.merging = None;
            if let (Some(_), Place::Branch { branch }) = (self.settings.at_once, &course.place)
                && self.repo.checked_out().await? != *branch
            {
                // It was shelved by a run without worktrees; this run has them.
                course.place = Place::Worktree { folder, branch: branch.clone() };
            }
            return Ok(course);
        }
        let branch = branch_name(&task.id, &task.name);
        if !self.settings.branch || !self.settings.commit {
            return Ok(Course::new(self.repo.snapshot(&self.left_out()).await?, Place::Here));
        }
        let base = self.repo.start(&branch).await?;
        let place = match self.settings.at_once {
            Some(_) => Place::Worktree { folder, branch },
            None => Place::Branch { branch },
        };
        Ok(Course::new(base, place))
    }

    /// One attempt with its merge. The merge is recorded last; the ledger has the verdict already.
    async fn attempt_and_merge(
        &self,
        task: &Task,
        course: &mut Course,
        log: &Log,
        started: Instant,
    ) -> Result<TaskEnd, Halt> {
        let ready = self.attempt(task, course, log).await?;
        let commit = match self.merge(task, course, &ready, log).await {
            Err(Halt::Failed(failure)) => {
                return Err(Failure { review: Some(ready.review), ..*failure }.into());
            }
            merged => merged?,
        };
        self.record(task, course, started, Ok(&ready.review), &TaskState::Success).await?;
        let (review, review_id) = (ready.review.status.word().to_owned(), ready.review.id);
        self.done(task, commit.clone(), &review).await?;
        Ok(TaskEnd::Done { commit, review, review_id })
    }

    /// Marks a task that is merged and recorded as done.
    pub(super) async fn done(
        &self,
        task: &Task,
        commit: Option<String>,
        review: &str,
    ) -> Result<(), RunError> {
        self.tasks.set(&task.id, Status::Done, &(self.now)())?;
        Course::forget(&self.state, &task.id).await?;
        self.say(Happening::Done { task: task.id.clone(), review: review.to_owned(), commit });
        Ok(())
    }

    async fn awaits(&self, task: &Task, course: &Course, review: ReviewId) -> Result<TaskEnd, RunError> {
        self.say(Happening::Awaits { task: task.id.clone(), review: review.clone() });
        self.shelve(task, course, "awaits a person").await?;
        self.tasks.set(&task.id, Status::Review, &(self.now)())?;
        Ok(TaskEnd::Awaits { review })
    }

    async fn failed(&self, task: &Task, course: &Course, failure: Failure) -> Result<TaskEnd, RunError> {
        self.shelve(task, course, "not merged").await?;
        // Without a verdict, or with a refused merge, the work is done and only the review or the merge is missing.
        let unjudged = matches!(failure.outcome, Outcome::NoVerdict(_) | Outcome::BudgetReached)
            && failure.review.is_some();
        let is_done = unjudged || failure.code == merging::refused();
        let left = if is_done { course.clone() } else { course.next(failure.error.clone()) };
        self.save(&task.id, &left).await?;
        // The next run goes on by itself, unless the budget is used up.
        let by_itself = is_done && failure.outcome != Outcome::BudgetReached;
        let status = if by_itself { Status::Review } else { Status::Blocked };
        self.tasks.set(&task.id, status, &(self.now)())?;
        Ok(TaskEnd::Failed { code: failure.code, error: failure.error, outcome: failure.outcome })
    }

    /// Commits unmerged work to its branch, so that other tasks can go on.
    pub(super) async fn shelve(&self, task: &Task, course: &Course, why: &str) -> Result<(), RunError> {
        let change = self.change(course).await?;
        let tree = match change {
            Some(change) => change.tree,
            None => Some(self.repo.tree(&course.base).await?),
        };
        let message = format!("{}: {} ({why})", task.id, task.name);
        Ok(self.repo.shelve(&course.place, tree.as_deref(), &course.base, &message).await?)
    }

    async fn record(
        &self,
        task: &Task,
        course: &Course,
        started: Instant,
        result: Result<&ReviewRecord, &Failure>,
        state: &TaskState,
    ) -> Result<(), RunError> {
        let review = result.map_or_else(|failure| failure.review.as_ref(), Some);
        let attempt = Attempt::new(&(self.now)(), result.is_ok(), started.elapsed().as_secs_f64());
        let mut attempt = attempt.reviewed(review);
        let count = |tokens: Option<u64>| tokens.and_then(|tokens| i64::try_from(tokens).ok());
        attempt.output = course.said.clone();
        (attempt.input_tokens, attempt.output_tokens) = (count(course.tokens_in), count(course.tokens_out));
        #[expect(clippy::cast_precision_loss, reason = "nobody pays that much")]
        let dollars = |micro: u64| micro as f64 / 1e6;
        attempt.cost_usd = course.cost_microusd.map(dollars);
        if let Err(failure) = result {
            attempt.error = Some(failure.error.clone());
            attempt.error_code = Some(failure.code.clone());
        }
        self.state.finish_attempt(&task.id, &attempt, state).await?;
        Ok(())
    }

    /// Waits before the next attempt; false where the run stops.
    async fn pause(&self) -> bool {
        tokio::select! {
            () = tokio::time::sleep(self.settings.retry_delay) => !self.stop.is_cancelled(),
            () = self.stop.cancelled() => false,
        }
    }
}

/// The branch of a task: `task/<id>-<slug>`.
fn branch_name(id: &str, name: &str) -> String {
    const SLUG_CHARS: usize = 40;
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= SLUG_CHARS {
            break;
        }
    }
    format!("task/{}-{}", id.to_lowercase(), slug.trim_matches('-')).trim_end_matches('-').to_owned()
}

/// An error on one line: its first line, and the next one where the first ends with a colon.
pub fn in_a_line(error: &str) -> String {
    let mut lines = error.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let next = lines.next().filter(|_| first.ends_with(':')).map(|next| format!(" {}", next.trim()));
    visible_line(&format!("{first}{}", next.unwrap_or_default())).into_owned()
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
            ("nothing follows:", "nothing follows:"),
        ] {
            assert_eq!(in_a_line(error), line);
        }
    }
}
