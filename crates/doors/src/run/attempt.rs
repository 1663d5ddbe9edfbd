//! One attempt at a task: agent, tests, lint, review, person. The next run goes on at the saved stage. Tests and lint are in
//! `checks`.

use super::agent_reply;
use super::checkpoint::ReviewRecord;
use super::config::ReviewPolicy;
use super::human::GateSummary;
use super::judging::{self, Judged};
use super::prompt_files;
use super::repo::WorkLocation;
use super::run::{PersonAnswer, Question, RunError};
use super::settings::{HumanGate, seconds};
use super::state::{ErrorCode, ReviewStatus};
use super::task::TaskRun;
use super::task_prompt::{TaskPrompt, task_prompt};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{NoVerdict, Outcome, Stop};
use countersign_core::progress::{ProgressEvent, Stage};
use countersign_core::review::{State, Verb};
use countersign_engine::engine::EngineError;
use countersign_engine::ledger::Stored;
use countersign_engine::worker::WorkRequest;
use countersign_engine::workspace::Change;

/// After so many rounds in which the reviewer changed files itself there is no verdict.
const FIXES_MAX: u32 = 3;

pub(super) enum Halt {
    Failed(Box<Failure>),
    Awaits(ReviewId),
    /// The run stops; the checkpoint stays.
    Stopped,
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

pub(super) struct Ready {
    /// The tree that was tested and judged.
    pub tree: String,
    /// Names the difference that was judged.
    pub difference: Digest,
    /// Whether a person decided about it.
    pub is_decided: bool,
    pub review: ReviewRecord,
}

pub(super) struct Failure {
    pub code: ErrorCode,
    /// For people, and for the prompt of the next attempt.
    pub error: String,
    pub outcome: Outcome,
    pub retry: Retry,
    pub review: Option<ReviewRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    WhileLeft,
    /// Also without attempts left: a person asked for it.
    Granted,
    No,
}

impl Failure {
    /// A failure of the work, which another attempt may fix.
    pub fn of_work(code: ErrorCode, error: impl Into<String>) -> Self {
        Self { code, error: error.into(), outcome: Outcome::NeedsWork, retry: Retry::WhileLeft, review: None }
    }

    pub fn for_good(code: ErrorCode, error: impl Into<String>, outcome: Outcome) -> Self {
        Self { code, error: error.into(), outcome, retry: Retry::No, review: None }
    }
}

impl TaskRun<'_> {
    pub(super) async fn attempt(&mut self) -> Result<Ready, Halt> {
        if self.checkpoint.stage == Stage::Agent {
            self.agent().await?;
            self.checkpoint.stage = Stage::Tests;
            self.save().await?;
        }
        if matches!(self.checkpoint.stage, Stage::Tests | Stage::Lint) {
            self.checks(None).await?;
            self.checkpoint.stage = Stage::Review;
            self.save().await?;
        }
        self.check_stop()?;
        match self.review().await {
            Err(Halt::Broken(RunError::Engine(EngineError::Interrupted))) => Err(Halt::Stopped),
            reviewed => reviewed,
        }
    }

    pub(super) fn check_stop(&self) -> Result<(), Halt> {
        if self.stop.is_cancelled() { Err(Halt::Stopped) } else { Ok(()) }
    }

    async fn agent(&mut self) -> Result<(), Halt> {
        self.check_stop()?;
        self.check_ready().await?;
        self.check_budget().await?;
        self.stage(Stage::Agent);
        self.log.heading(&format!("agent ({})", self.worker.name()));
        let template = prompt_files::find(&self.layout.prompts(), "task", Some(self.worker.name()));
        let template = template.map_err(RunError::template)?;
        let traced = super::traces::passages(&self.layout, &self.task.traces);
        let prompt = task_prompt(&TaskPrompt {
            task: self.task,
            traced: &traced,
            previous_error: self.checkpoint.previous_error.as_deref(),
            template: template.as_deref(),
            test_command: self.settings.config.commands.test.as_deref(),
        });
        let list = self.tasks.text()?;
        let request = WorkRequest {
            prompt: &prompt,
            folder: self.repo.folder(&self.checkpoint.place),
            timeout: 60 * seconds(self.settings.config.task_timeout_minutes),
            mark: &self.task.id,
            environment: &self.environment,
            tap: Some(self.log.tap()),
        };
        let worked = self.worker.work(&self.guard, request, &self.never).await;
        let worked = worked.map_err(RunError::io(format!("{} could not be run", self.worker.name())))?;
        // A worktree has its own copy, and other tasks write the list meanwhile.
        if !matches!(self.checkpoint.place, WorkLocation::Worktree { .. }) {
            self.restore_list(&list)?;
        }
        self.add_cost(&worked);
        self.checkpoint.reply = Some(agent_reply::reply(&worked));
        agent_reply::check(&worked)
    }

    /// Puts the list of tasks back where the agent edited it, and keeps the edited text among the logs.
    fn restore_list(&self, before: &str) -> Result<(), RunError> {
        let now = self.tasks.text().unwrap_or_default();
        if now == before {
            return Ok(());
        }
        let kept = self.layout.logs().join(format!("{}-tasks.md", self.task.id));
        let _ = std::fs::write(&kept, &now);
        self.tasks.put_back(before)?;
        self.say(ProgressEvent::Warning(format!(
            "{} was edited while the agent worked on {}: Countersign restored it and saved the edited text in {}",
            self.layout.tasks_name(),
            self.task.id,
            kept.display()
        )));
        Ok(())
    }

    pub(super) async fn review(&mut self) -> Result<Ready, Halt> {
        self.stage(Stage::Review);
        let mut stale = None;
        for _ in 0..FIXES_MAX {
            let Some(change) = self.tested_change().await? else {
                let words = "the agent reported the task as done but changed no files";
                return Err(Failure::of_work(ErrorCode::TaskFailed, words).into());
            };
            if !self.settings.config.run_review {
                let review = ReviewRecord { status: ReviewStatus::Skipped, findings: None, id: None };
                return Ok(ready(&change, false, review));
            }
            self.log.heading("review");
            let judged = self.judge(change).await?;
            if judged.outcome() == Outcome::NoVerdict(NoVerdict::Stale) {
                // The files changed during the review: only the reviewer was at work here.
                self.log.write(b"the files changed during the review: tests, lint and review start again\n");
                let last = judged.stored.review.round().map(|round| round.n);
                for (_, found) in judged.stored.review.fixes().filter(|(round, _)| Some(round.n) == last) {
                    self.log.write(
                        format!("the reviewer changed files itself and reported:\n{found}\n").as_bytes(),
                    );
                }
                self.checkpoint.fixed = true;
                stale = Some(judged.record(ReviewStatus::Error));
                self.checks(None).await?;
                self.save().await?;
                self.stage(Stage::Review);
                continue;
            }
            return self.conclude(judged).await;
        }
        let words = format!("the files changed during each of {FIXES_MAX} reviews");
        Err(Failure { review: stale, ..no_verdict(&words, NoVerdict::Stale) }.into())
    }

    /// The change of the task after tests and lint. Where these run on the judged files, it is the one they ran on.
    pub(super) async fn tested_change(&mut self) -> Result<Option<Change>, Halt> {
        for _ in 0..FIXES_MAX {
            let Some(change) = self.change(&self.checkpoint).await? else { return Ok(None) };
            if !self.settings.tests_judged_files() || change.tree == self.checkpoint.tested {
                return Ok(Some(change));
            }
            self.log.write(b"the files changed after their tests: tests and lint start again\n");
            self.checks(None).await?;
            self.save().await?;
            self.stage(Stage::Review);
        }
        let words = format!("the files changed during each of {FIXES_MAX} tests");
        Err(no_verdict(&words, NoVerdict::Stale).into())
    }

    async fn conclude(&mut self, mut judged: Judged) -> Result<Ready, Halt> {
        let review = &judged.stored.review;
        let verdict = judging::verdict_words(review, judged.fixed);
        self.log.write(format!("{} {verdict}\n", review.id).as_bytes());
        if let Some(findings) = judging::findings_text(review, judged.fixed) {
            self.log.write(format!("{findings}\n").as_bytes());
        }
        for text in judging::passing_texts(review) {
            self.log.write(format!("{text}\n").as_bytes());
        }
        let issues = judging::issues(review, judged.fixed);
        self.say(ProgressEvent::Judged { task: self.task.id.clone(), verdict, issues });
        if review.state == State::AwaitingPerson {
            self.checkpoint.stage = Stage::Person;
            self.save().await?;
            judged.stored = self.decision(&judged).await?;
        }
        self.apply_verdict(&judged).await
    }

    async fn decision(&self, judged: &Judged) -> Result<Stored, Halt> {
        self.stage(Stage::Person);
        let review = judged.review();
        let awaits = Err(Halt::Awaits(review.clone()));
        if matches!(self.settings.human, HumanGate::Queue | HumanGate::Later) {
            self.say(ProgressEvent::Awaits { task: self.task.id.clone(), review: review.clone() });
        }
        match self.settings.human {
            HumanGate::Terminal => {}
            HumanGate::Queue => {
                return match judged.engine.until_decided(review, &self.stop).await {
                    Err(EngineError::Interrupted) => awaits,
                    decided => Ok(decided?),
                };
            }
            HumanGate::Later | HumanGate::Off => return awaits,
        }
        let (review, fixed) = (&judged.stored.review, judged.fixed);
        let (task, name) = (self.task.id.clone(), self.task.name.clone());
        let (issues, verdict) = (judging::issues(review, fixed), judging::gate_words(review, fixed));
        let shown = GateSummary { task, name, issues, verdict };
        let diff: String = judged.change.files.iter().map(|file| file.patch.as_str()).collect();
        let folder = self.repo.folder(&self.checkpoint.place);
        let files: Vec<_> = judged.change.files.iter().map(|file| folder.join(&file.path)).collect();
        let (engine, stored) = (&judged.engine, &judged.stored);
        let question = Question { shown: &shown, diff: &diff, files: &files, engine, stored };
        match self.people.ask(question).await.map_err(RunError::Person)? {
            PersonAnswer::NotPresent => awaits,
            PersonAnswer::Interrupted => {
                self.stop.cancel();
                awaits
            }
            PersonAnswer::Decided(stored) => Ok(*stored),
        }
    }

    async fn apply_verdict(&self, judged: &Judged) -> Result<Ready, Halt> {
        let outcome = judged.outcome();
        let ready = |status| Ok(ready(&judged.change, judged.is_decided(), judged.record(status)));
        let is_advisory = self.settings.config.review_policy == ReviewPolicy::Advisory;
        let words = || judging::verdict_words(&judged.stored.review, judged.fixed);
        let (failure, status) = match outcome {
            // A person's approval makes it passed.
            Outcome::Passed if judged.fixed && !judged.is_decided() => return ready(ReviewStatus::Fixed),
            Outcome::Passed | Outcome::Overridden => return ready(ReviewStatus::Passed),
            Outcome::Skipped => return ready(ReviewStatus::Skipped),
            Outcome::AwaitingPerson => return Err(Halt::Awaits(judged.review().clone())),
            Outcome::NeedsWork => {
                judged.engine.delivered(&judged.ticket).await?;
                match fix_reason(judged) {
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
                let words = with_findings(words, judged);
                (Failure::for_good(ErrorCode::ReviewRejected, words, outcome), ReviewStatus::Rejected)
            }
            outcome => {
                let words = with_findings(format!("the review ended: {outcome}"), judged);
                (Failure::for_good(review_failed(), words, outcome), ReviewStatus::Failed)
            }
        };
        Err(Failure { review: Some(judged.record(status)), ..failure }.into())
    }

    pub(super) fn stage(&self, stage: Stage) {
        self.say(ProgressEvent::Stage { task: self.task.id.clone(), stage });
    }
}

fn ready(change: &Change, is_decided: bool, review: ReviewRecord) -> Ready {
    let tree = change.tree.clone().unwrap_or_default();
    Ready { tree, difference: judging::difference(change), is_decided, review }
}

fn review_failed() -> ErrorCode {
    ErrorCode::Other("REVIEW_FAILED".to_owned())
}

fn fix_reason(judged: &Judged) -> Option<String> {
    let review = &judged.stored.review;
    let last = review.decisions.last().filter(|decision| decision.verb == Verb::Fix)?;
    (review.digest() == Some(&last.digest)).then(|| last.reason.clone())
}

fn needs_work(judged: &Judged, person: Option<String>) -> Failure {
    let (words, retry) = match person {
        Some(reason) => (format!("a person sent it back: {reason}"), Retry::Granted),
        None => ("the review found:".to_owned(), Retry::WhileLeft),
    };
    Failure { retry, ..Failure::of_work(review_failed(), with_findings(words, judged)) }
}

/// Words for people and for the next agent, with what was found.
fn with_findings(words: String, judged: &Judged) -> String {
    let findings = judging::findings_text(&judged.stored.review, judged.fixed);
    format!("{words}\n{}", findings.as_deref().unwrap_or("no findings"))
}

fn no_verdict(words: &str, why: NoVerdict) -> Failure {
    Failure::for_good(ErrorCode::Infrastructure, words, Outcome::NoVerdict(why))
}
