//! One attempt at a task: agent, tests, lint, review, person. Each stage is kept before the next begins, so that a run
//! goes on where the last one stopped.

use super::config::ReviewPolicy;
use super::course::Course;
use super::happening::{Happening, Stage};
use super::heard::{Heard, said, word};
use super::judging::{self, Judged};
use super::log::Log;
use super::prompt_files;
use super::repo::Place;
use super::run::{Question, Run, RunError, Said};
use super::settings::HumanGate;
use super::state::{ErrorCode, ReviewStatus};
use super::task_prompt::{TaskPrompt, task_prompt};
use super::tasks::Task;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_core::review::{State, Verb};
use countersign_engine::engine::EngineError;
use countersign_engine::shell::{self as step, Came, Command, End};
use countersign_engine::worker::Errand;
use countersign_engine::yaml::Problems;

/// How often a reviewer may change the files itself before that is taken for no verdict.
const FIXES_MAX: u32 = 3;
/// How much of a failed command is told to the next attempt.
pub(super) const TROUBLE_BYTES: usize = 8 * 1024;
/// What is kept of test results between runs.
const TESTS_BYTES: usize = 16 * 1024;

/// What an attempt came to.
pub enum Attempted {
    /// It may be merged: exactly this tree.
    Ready(Ready),
    /// It did not go through.
    Failed(Failure),
    /// A person has to decide first.
    Awaits(ReviewId),
    /// The run is to stop; what was done so far is kept.
    Stopped,
}

/// Work that may be merged.
pub struct Ready {
    /// The tree that was judged.
    pub tree: String,
    /// What became of its review.
    pub review: Reviewed,
}

/// What became of a review, as it is recorded with the attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// In a word.
    pub status: ReviewStatus,
    /// What was found.
    pub findings: Option<String>,
    /// The review.
    pub id: Option<ReviewId>,
}

impl Reviewed {
    fn of(judged: &Judged, status: ReviewStatus) -> Self {
        let findings = judging::findings_text(&judged.stored.review, judged.fixed);
        Self { status, findings, id: Some(judged.review().clone()) }
    }
}

/// Why an attempt did not go through.
pub struct Failure {
    /// In a word.
    pub code: ErrorCode,
    /// For people, and for the next attempt.
    pub error: String,
    /// What it means for the run's own outcome.
    pub outcome: Outcome,
    /// Whether the next attempt may follow by itself.
    pub again: Again,
    /// What became of its review.
    pub review: Option<Reviewed>,
}

/// Whether another attempt follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// As long as there are attempts.
    Yes,
    /// Also where there are none left: a person wants it.
    Granted,
    /// Not by itself.
    No,
}

impl Failure {
    /// A failure of the work, which another attempt may mend.
    pub fn of_work(code: ErrorCode, error: impl Into<String>) -> Self {
        Self { code, error: error.into(), outcome: Outcome::NeedsWork, again: Again::Yes, review: None }
    }

    pub(super) fn for_good(code: ErrorCode, error: impl Into<String>, outcome: Outcome) -> Self {
        Self { code, error: error.into(), outcome, again: Again::No, review: None }
    }

    fn with(self, review: Reviewed) -> Self {
        Self { review: Some(review), ..self }
    }
}

/// Whether a stage lets the attempt go on.
pub(super) enum Passed {
    On,
    Not(Box<Attempted>),
}

fn failed(failure: Failure) -> Passed {
    Passed::Not(Box::new(Attempted::Failed(failure)))
}

impl Run {
    /// Takes an attempt as far as it goes.
    pub(super) async fn attempt(
        &self,
        task: &Task,
        course: &mut Course,
        log: &Log,
    ) -> Result<Attempted, RunError> {
        if course.stage == Stage::Agent {
            if let Passed::Not(end) = self.agent(task, course, log).await? {
                return Ok(*end);
            }
            course.stage = Stage::Tests;
            self.keep(&task.id, course).await?;
        }
        if matches!(course.stage, Stage::Tests | Stage::Lint) {
            if let Passed::Not(end) = self.checks(task, course, log).await? {
                return Ok(*end);
            }
            course.stage = Stage::Review;
            self.keep(&task.id, course).await?;
        }
        if self.stop.is_cancelled() {
            return Ok(Attempted::Stopped);
        }
        match self.review(task, course, log).await {
            Err(RunError::Engine(EngineError::Interrupted)) => Ok(Attempted::Stopped),
            reviewed => reviewed,
        }
    }

    async fn agent(&self, task: &Task, course: &mut Course, log: &Log) -> Result<Passed, RunError> {
        if self.stop.is_cancelled() {
            return Ok(Passed::Not(Box::new(Attempted::Stopped)));
        }
        if let Some(failure) = self.budget_reached(task, course).await? {
            return Ok(failed(failure));
        }
        self.stage(task, Stage::Agent);
        log.heading(&format!("agent ({})", self.worker.name()));
        let template = self.template()?;
        let traced = super::traces::passages(&self.layout, &task.traces);
        let prompt = task_prompt(&TaskPrompt {
            task,
            traced: &traced,
            previous_error: course.previous_error.as_deref(),
            template: template.as_deref(),
            test_command: self.settings.commands.test.as_deref(),
        });
        let list = self.tasks.text()?;
        let errand = Errand {
            prompt: &prompt,
            folder: self.repo.folder(&course.place),
            timeout: self.settings.task_timeout,
            mark: &task.id,
            environment: &self.environment,
            tap: Some(log.tap()),
        };
        let worked = self.worker.work(&self.guard, errand, &self.never).await;
        let worked = worked.map_err(RunError::io(format!("{} could not be run", self.worker.name())))?;
        // In a worktree of its own it has its own copy, and the list is written by other tasks meanwhile.
        if !matches!(course.place, Place::Worktree { .. }) {
            self.guard_list(task, &list)?;
        }
        self.count(course, &worked);
        course.said = Some(said(&worked));
        Ok(match word(&worked) {
            Heard::Complete => Passed::On,
            Heard::Stopped => Passed::Not(Box::new(Attempted::Stopped)),
            Heard::Failed(failure) => failed(failure),
        })
    }

    /// The list of tasks is not the agent's: what it did to it is put back, and kept beside.
    fn guard_list(&self, task: &Task, before: &str) -> Result<(), RunError> {
        let now = self.tasks.text().unwrap_or_default();
        if now == before {
            return Ok(());
        }
        let kept = self.layout.logs().join(format!("{}-tasks.md", task.id));
        let _ = std::fs::write(&kept, &now);
        self.tasks.put_back(before)?;
        self.say(&Happening::Warning(format!(
            "{} was edited while the agent worked on {}: it was put back, and what was written is in {}",
            self.layout.tasks_name(),
            task.id,
            kept.display()
        )));
        Ok(())
    }

    /// Tests, then lint; what lint mends itself is tested again.
    pub(super) async fn checks(
        &self,
        task: &Task,
        course: &mut Course,
        log: &Log,
    ) -> Result<Passed, RunError> {
        if let Passed::Not(end) = self.tests(task, course, log).await? {
            return Ok(Passed::Not(end));
        }
        let Some(lint) = self.settings.commands.lint.clone() else {
            course.lint = None;
            return Ok(Passed::On);
        };
        self.stage(task, Stage::Lint);
        let mut came = self.command(course, log, "lint", &lint).await?;
        let fix = self.settings.commands.lint_fix.clone().filter(|_| matches!(came.end, End::Failed(_)));
        if let Some(fix) = &fix {
            self.command(course, log, "lint fix", fix).await?;
            came = self.command(course, log, "lint", &lint).await?;
        }
        match came.end {
            End::Passed if fix.is_some() => {
                course.lint = Some(format!("auto-fixed by `{}`", fix.unwrap_or_default()));
                self.tests(task, course, log).await
            }
            End::Passed => {
                course.lint = Some(String::new());
                Ok(Passed::On)
            }
            End::Cancelled => Ok(Passed::Not(Box::new(Attempted::Stopped))),
            End::Failed(_) if !self.settings.lint_blocking => {
                let lines = format!("`{lint}` is not content:\n{}", came.output.trim());
                course.lint = Some(countersign_core::text::cut(&lines, TESTS_BYTES).to_owned());
                Ok(Passed::On)
            }
            End::Failed(_) | End::TimedOut => {
                let trouble = came.trouble(&format!("`{lint}`"), TROUBLE_BYTES);
                Ok(failed(Failure::of_work(ErrorCode::LintFailure, trouble)))
            }
        }
    }

    async fn tests(&self, task: &Task, course: &mut Course, log: &Log) -> Result<Passed, RunError> {
        if self.stop.is_cancelled() {
            return Ok(Passed::Not(Box::new(Attempted::Stopped)));
        }
        let Some(test) = self.settings.commands.test.clone() else {
            course.tests = None;
            return Ok(Passed::On);
        };
        self.stage(task, Stage::Tests);
        let came = self.command(course, log, "tests", &test).await?;
        course.tests = Some(countersign_core::text::cut(&came.output, TESTS_BYTES).to_owned());
        Ok(match came.end {
            End::Passed => Passed::On,
            End::Cancelled => Passed::Not(Box::new(Attempted::Stopped)),
            End::Failed(_) | End::TimedOut => {
                let trouble = came.trouble(&format!("`{test}`"), TROUBLE_BYTES);
                failed(Failure::of_work(ErrorCode::TestFailure, trouble))
            }
        })
    }

    pub(super) async fn command(
        &self,
        course: &Course,
        log: &Log,
        what: &str,
        line: &str,
    ) -> Result<Came, RunError> {
        log.heading(&format!("{what}: {line}"));
        let command = Command {
            line,
            folder: self.repo.folder(&course.place),
            timeout: self.settings.check_timeout,
            environment: &self.environment,
            tap: Some(log.tap()),
        };
        let came = step::run(&self.guard, command, &self.never).await;
        came.map_err(RunError::io(format!("`{line}` could not be run")))
    }

    async fn review(&self, task: &Task, course: &mut Course, log: &Log) -> Result<Attempted, RunError> {
        self.stage(task, Stage::Review);
        let mut stale = None;
        for _ in 0..FIXES_MAX {
            let Some(change) = self.change(course).await? else {
                let words = "the agent said that it is done and changed nothing";
                return Ok(Attempted::Failed(Failure::of_work(ErrorCode::TaskFailed, words)));
            };
            if !self.settings.review {
                let review = Reviewed { status: ReviewStatus::Skipped, findings: None, id: None };
                return Ok(Attempted::Ready(Ready { tree: change.tree.unwrap_or_default(), review }));
            }
            log.heading("review");
            let judged = self.judge(task, course, change).await?;
            if judged.outcome() == Outcome::NoVerdict(NoVerdict::Stale) {
                // Somebody changed the files while they were judged: the reviewer, which alone was at work here.
                log.write(b"the files were changed meanwhile: tests, lint and review begin again\n");
                let last = judged.stored.review.round().map(|round| round.n);
                for (_, found) in judged.stored.review.fixes().filter(|(round, _)| Some(round.n) == last) {
                    log.write(format!("the reviewer found, and changed files itself:\n{found}\n").as_bytes());
                }
                course.fixed = true;
                stale = Some(Reviewed::of(&judged, ReviewStatus::Error));
                if let Passed::Not(end) = self.checks(task, course, log).await? {
                    return Ok(*end);
                }
                self.keep(&task.id, course).await?;
                self.stage(task, Stage::Review);
                continue;
            }
            return self.concluded(task, course, judged, log).await;
        }
        let words = "the files changed again and again while they were judged";
        Ok(Attempted::Failed(Failure { review: stale, ..no_verdict(words, NoVerdict::Stale) }))
    }

    async fn concluded(
        &self,
        task: &Task,
        course: &mut Course,
        mut judged: Judged,
        log: &Log,
    ) -> Result<Attempted, RunError> {
        let review = &judged.stored.review;
        let verdict = judging::verdict_words(review, course.fixed);
        log.write(format!("{} {verdict}\n", review.id).as_bytes());
        if let Some(findings) = judging::findings_text(review, judged.fixed) {
            log.write(format!("{findings}\n").as_bytes());
        }
        let issues = judging::issues(review, judged.fixed);
        self.say(&Happening::Judged { task: task.id.clone(), verdict, issues });
        if review.state == State::AwaitingPerson {
            course.stage = Stage::Person;
            self.keep(&task.id, course).await?;
            match self.person(task, course, &mut judged).await? {
                Passed::On => {}
                Passed::Not(end) => return Ok(*end),
            }
        }
        self.meant(course, &judged).await
    }

    /// A person has the last word: here, elsewhere, or later.
    async fn person(&self, task: &Task, course: &Course, judged: &mut Judged) -> Result<Passed, RunError> {
        self.stage(task, Stage::Person);
        let awaits = Passed::Not(Box::new(Attempted::Awaits(judged.review().clone())));
        if self.settings.human == HumanGate::Queue {
            self.say(&Happening::Awaits { task: task.id.clone(), review: judged.review().clone() });
            let decided = judged.engine.until_decided(judged.review(), &self.stop).await;
            return match decided {
                Ok(stored) => {
                    judged.stored = stored;
                    Ok(Passed::On)
                }
                Err(EngineError::Interrupted) => Ok(awaits),
                Err(error) => Err(error.into()),
            };
        }
        if self.settings.human == HumanGate::Later {
            self.say(&Happening::Awaits { task: task.id.clone(), review: judged.review().clone() });
        }
        if self.settings.human != HumanGate::Terminal {
            return Ok(awaits);
        }
        let shown = judging::shown(task, &judged.stored.review, course.fixed);
        let diff: String = judged.change.files.iter().map(|file| file.patch.as_str()).collect();
        let folder = self.repo.folder(&course.place);
        let files: Vec<_> = judged.change.files.iter().map(|file| folder.join(&file.path)).collect();
        let (engine, stored) = (&judged.engine, &judged.stored);
        let question = Question { shown: &shown, diff: &diff, files: &files, engine, stored };
        match self.people.ask(question).await.map_err(RunError::Person)? {
            Said::Nobody => Ok(awaits),
            Said::Interrupted => {
                self.stop.cancel();
                Ok(awaits)
            }
            Said::Decided(stored) => {
                judged.stored = *stored;
                Ok(Passed::On)
            }
        }
    }

    /// What the end of a review means for the task.
    async fn meant(&self, course: &Course, judged: &Judged) -> Result<Attempted, RunError> {
        let outcome = judged.outcome();
        let ready = |status| {
            let tree = judged.change.tree.clone().unwrap_or_default();
            Attempted::Ready(Ready { tree, review: Reviewed::of(judged, status) })
        };
        let is_advisory = self.settings.review_policy == ReviewPolicy::Advisory;
        Ok(match outcome {
            Outcome::Passed if course.fixed => ready(ReviewStatus::Fixed),
            Outcome::Passed | Outcome::Overridden => ready(ReviewStatus::Passed),
            Outcome::Skipped => ready(ReviewStatus::Skipped),
            Outcome::AwaitingPerson => Attempted::Awaits(judged.review().clone()),
            Outcome::NeedsWork => {
                judged.engine.delivered(&judged.ticket).await?;
                match sent_back(judged) {
                    None if is_advisory => ready(ReviewStatus::Failed),
                    person => Attempted::Failed(needs_work(judged, person)),
                }
            }
            Outcome::NoVerdict(_) if is_advisory => ready(ReviewStatus::Error),
            Outcome::NoVerdict(why) => {
                let words = judging::verdict_words(&judged.stored.review, course.fixed);
                Attempted::Failed(no_verdict(&words, why).with(Reviewed::of(judged, ReviewStatus::Error)))
            }
            Outcome::BudgetReached => {
                let words = judging::verdict_words(&judged.stored.review, course.fixed);
                let failure = Failure::for_good(ErrorCode::BudgetExceeded, words, outcome);
                Attempted::Failed(failure.with(Reviewed::of(judged, ReviewStatus::Error)))
            }
            Outcome::Stopped(Stop::Rejected) => {
                let reason = judged.stored.review.decisions.last().map(|decision| decision.reason.clone());
                let words = format!("a person rejected it: {}", reason.unwrap_or_default());
                let failure = Failure::for_good(ErrorCode::ReviewRejected, words, outcome);
                Attempted::Failed(failure.with(Reviewed::of(judged, ReviewStatus::Rejected)))
            }
            outcome => {
                let words = format!("the review is over: {outcome}");
                let failure = Failure::for_good(review_failed(), words, outcome);
                Attempted::Failed(failure.with(Reviewed::of(judged, ReviewStatus::Failed)))
            }
        })
    }

    pub(super) fn stage(&self, task: &Task, stage: Stage) {
        self.say(&Happening::Stage { task: task.id.clone(), stage });
    }

    /// The project's own prompt for tasks.
    fn template(&self) -> Result<Option<String>, RunError> {
        let found =
            prompt_files::find(&self.layout.prompts(), prompt_files::Kind::Task, Some(self.worker.name()));
        let found = found.map_err(|problem| RunError::Configuration(Problems::from(problem).to_string()))?;
        Ok(found.map(|template| template.text))
    }
}

/// The word for work that a review sent back.
fn review_failed() -> ErrorCode {
    ErrorCode::Other("REVIEW_FAILED".to_owned())
}

/// What a person wrote who sent it back.
fn sent_back(judged: &Judged) -> Option<String> {
    let review = &judged.stored.review;
    let last = review.decisions.last().filter(|decision| decision.verb == Verb::Fix)?;
    (review.digest() == Some(&last.digest)).then(|| last.reason.clone())
}

fn needs_work(judged: &Judged, person: Option<String>) -> Failure {
    let review = Reviewed::of(judged, ReviewStatus::Failed);
    let found = review.findings.clone().unwrap_or_else(|| "nothing was found".to_owned());
    let (error, again) = match person {
        Some(reason) => (format!("a person sent it back: {reason}\n{found}"), Again::Granted),
        None => (format!("the review found:\n{found}"), Again::Yes),
    };
    Failure { again, ..Failure::of_work(review_failed(), error) }.with(review)
}

fn no_verdict(words: &str, why: NoVerdict) -> Failure {
    Failure::for_good(ErrorCode::Infrastructure, words, Outcome::NoVerdict(why))
}
