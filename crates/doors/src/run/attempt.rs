//! One attempt at a task: agent, tests, lint, review, person. Each stage is kept before the next begins, so that a run
//! goes on where the last one stopped.

use super::config::ReviewPolicy;
use super::course::Course;
use super::heard::{said, word};
use super::judging::{self, Judged};
use super::log::Log;
use super::prompt_files;
use super::repo::Place;
use super::run::{Question, Run, RunError, Said};
use super::settings::HumanGate;
use super::state::{ErrorCode, ReviewStatus};
use super::task_prompt::{TaskPrompt, task_prompt};
use super::tasks::Task;
use countersign_core::happening::{Happening, Stage};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_core::review::{State, Verb};
use countersign_engine::engine::EngineError;
use countersign_engine::ledger::Stored;
use countersign_engine::shell::{self as step, Came, Command, End};
use countersign_engine::worker::Errand;
use countersign_engine::yaml::Problems;

/// How often a reviewer may change the files itself before that is taken for no verdict.
const FIXES_MAX: u32 = 3;
/// How much of a failed command is told to the next attempt.
pub(super) const TROUBLE_BYTES: usize = 8 * 1024;
/// What is kept of test results between runs.
const TESTS_BYTES: usize = 16 * 1024;

/// Why an attempt goes no further.
pub(super) enum Halt {
    /// It did not go through.
    Failed(Box<Failure>),
    /// A person has to decide first.
    Awaits(ReviewId),
    /// The run is to stop; what was done so far is kept.
    Stopped,
    /// The run breaks off.
    Broken(RunError),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl<E: Into<RunError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
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
}

impl Run {
    /// Takes an attempt as far as it goes.
    pub(super) async fn attempt(&self, task: &Task, course: &mut Course, log: &Log) -> Result<Ready, Halt> {
        if course.stage == Stage::Agent {
            self.agent(task, course, log).await?;
            course.stage = Stage::Tests;
            self.keep(&task.id, course).await?;
        }
        if matches!(course.stage, Stage::Tests | Stage::Lint) {
            self.checks(task, course, log).await?;
            course.stage = Stage::Review;
            self.keep(&task.id, course).await?;
        }
        self.goes_on()?;
        match self.review(task, course, log).await {
            Err(Halt::Broken(RunError::Engine(EngineError::Interrupted))) => Err(Halt::Stopped),
            reviewed => reviewed,
        }
    }

    /// Whether another step may begin.
    fn goes_on(&self) -> Result<(), Halt> {
        if self.stop.is_cancelled() { Err(Halt::Stopped) } else { Ok(()) }
    }

    async fn agent(&self, task: &Task, course: &mut Course, log: &Log) -> Result<(), Halt> {
        self.goes_on()?;
        self.within_budget(task, course).await?;
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
        word(&worked)
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
        self.say(Happening::Warning(format!(
            "{} was edited while the agent worked on {}: it was put back, and what was written is in {}",
            self.layout.tasks_name(),
            task.id,
            kept.display()
        )));
        Ok(())
    }

    /// Tests, then lint; what lint mends itself is tested again.
    async fn checks(&self, task: &Task, course: &mut Course, log: &Log) -> Result<(), Halt> {
        self.tests(task, course, log).await?;
        let Some(lint) = self.settings.commands.lint.clone() else {
            course.lint = None;
            return Ok(());
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
                Ok(())
            }
            End::Cancelled => Err(Halt::Stopped),
            End::Failed(_) if !self.settings.lint_blocking => {
                let lines = format!("`{lint}` is not content:\n{}", came.output.trim());
                course.lint = Some(countersign_core::text::cut(&lines, TESTS_BYTES).to_owned());
                Ok(())
            }
            End::Failed(_) | End::TimedOut => {
                let trouble = came.trouble(&format!("`{lint}`"), TROUBLE_BYTES);
                Err(Failure::of_work(ErrorCode::LintFailure, trouble).into())
            }
        }
    }

    async fn tests(&self, task: &Task, course: &mut Course, log: &Log) -> Result<(), Halt> {
        self.goes_on()?;
        let Some(test) = self.settings.commands.test.clone() else {
            course.tests = None;
            return Ok(());
        };
        self.stage(task, Stage::Tests);
        let came = self.command(course, log, "tests", &test).await?;
        course.tests = Some(countersign_core::text::cut(&came.output, TESTS_BYTES).to_owned());
        tested(&came, &format!("`{test}`"))
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

    async fn review(&self, task: &Task, course: &mut Course, log: &Log) -> Result<Ready, Halt> {
        self.stage(task, Stage::Review);
        let mut stale = None;
        for _ in 0..FIXES_MAX {
            let Some(change) = self.change(course).await? else {
                let words = "the agent said that it is done and changed nothing";
                return Err(Failure::of_work(ErrorCode::TaskFailed, words).into());
            };
            if !self.settings.review {
                let review = Reviewed { status: ReviewStatus::Skipped, findings: None, id: None };
                return Ok(Ready { tree: change.tree.unwrap_or_default(), review });
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
                self.checks(task, course, log).await?;
                self.keep(&task.id, course).await?;
                self.stage(task, Stage::Review);
                continue;
            }
            return self.concluded(task, course, judged, log).await;
        }
        let words = "the files changed again and again while they were judged";
        Err(Failure { review: stale, ..no_verdict(words, NoVerdict::Stale) }.into())
    }

    async fn concluded(
        &self,
        task: &Task,
        course: &mut Course,
        mut judged: Judged,
        log: &Log,
    ) -> Result<Ready, Halt> {
        let review = &judged.stored.review;
        let verdict = judging::verdict_words(review, course.fixed);
        log.write(format!("{} {verdict}\n", review.id).as_bytes());
        if let Some(findings) = judging::findings_text(review, judged.fixed) {
            log.write(format!("{findings}\n").as_bytes());
        }
        let issues = judging::issues(review, judged.fixed);
        self.say(Happening::Judged { task: task.id.clone(), verdict, issues });
        if review.state == State::AwaitingPerson {
            course.stage = Stage::Person;
            self.keep(&task.id, course).await?;
            judged.stored = self.person(task, course, &judged).await?;
        }
        self.meant(course, &judged).await
    }

    /// A person has the last word: here, elsewhere, or later. Gives the review as it stands then.
    async fn person(&self, task: &Task, course: &Course, judged: &Judged) -> Result<Stored, Halt> {
        self.stage(task, Stage::Person);
        let awaits = Err(Halt::Awaits(judged.review().clone()));
        if self.settings.human == HumanGate::Queue {
            self.say(Happening::Awaits { task: task.id.clone(), review: judged.review().clone() });
            let decided = judged.engine.until_decided(judged.review(), &self.stop).await;
            return match decided {
                Err(EngineError::Interrupted) => awaits,
                decided => Ok(decided?),
            };
        }
        if self.settings.human == HumanGate::Later {
            self.say(Happening::Awaits { task: task.id.clone(), review: judged.review().clone() });
        }
        if self.settings.human != HumanGate::Terminal {
            return awaits;
        }
        let shown = judging::shown(task, &judged.stored.review, course.fixed);
        let diff: String = judged.change.files.iter().map(|file| file.patch.as_str()).collect();
        let folder = self.repo.folder(&course.place);
        let files: Vec<_> = judged.change.files.iter().map(|file| folder.join(&file.path)).collect();
        let (engine, stored) = (&judged.engine, &judged.stored);
        let question = Question { shown: &shown, diff: &diff, files: &files, engine, stored };
        match self.people.ask(question).await.map_err(RunError::Person)? {
            Said::Nobody => awaits,
            Said::Interrupted => {
                self.stop.cancel();
                awaits
            }
            Said::Decided(stored) => Ok(*stored),
        }
    }

    /// What the end of a review means for the task.
    async fn meant(&self, course: &Course, judged: &Judged) -> Result<Ready, Halt> {
        let outcome = judged.outcome();
        let ready = |status| {
            let tree = judged.change.tree.clone().unwrap_or_default();
            Ok(Ready { tree, review: Reviewed::of(judged, status) })
        };
        let is_advisory = self.settings.review_policy == ReviewPolicy::Advisory;
        let words = || judging::verdict_words(&judged.stored.review, course.fixed);
        let (failure, status) = match outcome {
            Outcome::Passed if course.fixed => return ready(ReviewStatus::Fixed),
            Outcome::Passed | Outcome::Overridden => return ready(ReviewStatus::Passed),
            Outcome::Skipped => return ready(ReviewStatus::Skipped),
            Outcome::AwaitingPerson => return Err(Halt::Awaits(judged.review().clone())),
            Outcome::NeedsWork => {
                judged.engine.delivered(&judged.ticket).await?;
                match sent_back(judged) {
                    None if is_advisory => return ready(ReviewStatus::Failed),
                    person => (needs_work(judged, person), ReviewStatus::Failed),
                }
            }
            Outcome::NoVerdict(_) if is_advisory => return ready(ReviewStatus::Error),
            Outcome::NoVerdict(why) => (no_verdict(&words(), why), ReviewStatus::Error),
            Outcome::BudgetReached => {
                (Failure::for_good(ErrorCode::BudgetExceeded, words(), outcome), ReviewStatus::Error)
            }
            Outcome::Stopped(Stop::Rejected) => {
                let reason = judged.stored.review.decisions.last().map(|decision| decision.reason.clone());
                let words = format!("a person rejected it: {}", reason.unwrap_or_default());
                (Failure::for_good(ErrorCode::ReviewRejected, words, outcome), ReviewStatus::Rejected)
            }
            outcome => {
                let words = format!("the review is over: {outcome}");
                (Failure::for_good(review_failed(), words, outcome), ReviewStatus::Failed)
            }
        };
        Err(Failure { review: Some(Reviewed::of(judged, status)), ..failure }.into())
    }

    pub(super) fn stage(&self, task: &Task, stage: Stage) {
        self.say(Happening::Stage { task: task.id.clone(), stage });
    }

    /// The project's own prompt for tasks.
    fn template(&self) -> Result<Option<String>, RunError> {
        let found =
            prompt_files::find(&self.layout.prompts(), prompt_files::Kind::Task, Some(self.worker.name()));
        let found = found.map_err(|problem| RunError::Configuration(Problems::from(problem).to_string()))?;
        Ok(found.map(|template| template.text))
    }
}

/// What tests came to; `what` names them in what the next attempt is told.
pub(super) fn tested(came: &Came, what: &str) -> Result<(), Halt> {
    match came.end {
        End::Passed => Ok(()),
        End::Cancelled => Err(Halt::Stopped),
        End::Failed(_) | End::TimedOut => {
            Err(Failure::of_work(ErrorCode::TestFailure, came.trouble(what, TROUBLE_BYTES)).into())
        }
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
    let found = judging::findings_text(&judged.stored.review, judged.fixed);
    let found = found.unwrap_or_else(|| "nothing was found".to_owned());
    let (error, again) = match person {
        Some(reason) => (format!("a person sent it back: {reason}\n{found}"), Again::Granted),
        None => (format!("the review found:\n{found}"), Again::Yes),
    };
    Failure { again, ..Failure::of_work(review_failed(), error) }
}

fn no_verdict(words: &str, why: NoVerdict) -> Failure {
    Failure::for_good(ErrorCode::Infrastructure, words, Outcome::NoVerdict(why))
}
