//! The review of a task. The verdict is in the ledger first, then the event, then the plan. An error on the way is an
//! event too, and leaves a task that can be reviewed again.

use super::context::{Known, SETUP_SECONDS, needs_tree};
use super::decided::after_decision;
use super::error::ServiceError;
use super::event::{self, Happened, ServiceEvent};
use super::plan::ReviewBlock;
use super::task::{Basis, Task, TaskStatus, status_after};
use super::tasks::Tasks;
use countersign_core::answer::{REVIEW_CRITERION, ReviewResult, Reviewed};
use countersign_core::criterion::Criterion;
use countersign_core::judge::Finding;
use countersign_core::outcome::{NoVerdict, Outcome, Settlement, Stop};
use countersign_core::policy::{Attempts, Policy};
use countersign_core::review::{Review, State};
use countersign_core::rule::{Rule, Scope};
use countersign_core::text;
use countersign_engine::config::ServiceConfig;
use countersign_engine::engine::{Engine, EngineError, Request, SubmittedChange, Ticket};
use countersign_engine::ledger::Stored;
use countersign_engine::process::GuardProgram;
use countersign_engine::tested::{CheckoutSettings, TestRun};
use countersign_engine::workspace::{self, ChangeWanted, Root};
use std::ffi::OsString;
use std::fs::File;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const RAW_BYTES_MAX: usize = 16 * 1024;

pub fn free_rule() -> Rule {
    let question = "Does an independent review of the change approve it as it is?";
    Rule::new("review", Scope::Whole, vec![Criterion::must(REVIEW_CRITERION, question)])
}

pub struct Reviewing {
    pub tasks: Tasks,
    pub engine: Engine,
    pub rules: Vec<Rule>,
    pub policy: Policy,
    pub settings: ServiceConfig,
    pub checkout: CheckoutSettings,
    /// The commit the change is against.
    pub base: Option<String>,
    pub left_out: Vec<String>,
    pub guard: GuardProgram,
    pub environment: Vec<(OsString, OsString)>,
    pub session_log: Option<String>,
    /// The time, in milliseconds and in words.
    pub now: fn() -> (i64, String),
}

pub struct Finished {
    pub task: Task,
    pub happened: Happened,
    pub outcome: Outcome,
    /// The number of the failing review that blocks.
    pub max_revisions: u32,
    /// The ticket and the review; none where another process made it.
    pub judged: Option<(Ticket, Stored)>,
}

impl Reviewing {
    /// Reviews the work on a task, or waits for the review that is under way.
    pub async fn review(&self, mut task: Task, cancel: &CancellationToken) -> Result<Finished, ServiceError> {
        let ended = self.ended(&task).await?.len();
        let lock = self.tasks.review_lock(&task)?;
        let _lock = match lock.try_lock() {
            Ok(()) => lock,
            Err(_) => {
                let lock = until_free(lock, cancel).await?;
                // The other process may have ended without a result.
                match self.ended(&task).await?.split_off(ended).pop() {
                    Some(happened) => return self.joined(&task, happened).await,
                    None => lock,
                }
            }
        };
        self.close_interrupted(&task).await?;
        refuse_stopped(&self.tasks, &task).await?;
        if let Some(finished) = self.decided(&mut task).await? {
            return Ok(finished);
        }
        let (at_ms, at) = (self.now)();
        self.tasks.set(&mut task, TaskStatus::AwaitingReview, None, at_ms).await?;
        let started = self.pending(&task, at).await?;
        ServiceEvent::ReviewStarted(started.clone()).record(&self.tasks.ledger, at_ms).await?;
        match self.judge(&task, cancel).await {
            Ok((ticket, stored)) => self.finish(task, started, ticket, stored).await,
            Err(error) => {
                self.failed(started, &error.to_string()).await?;
                Err(error)
            }
        }
    }

    /// All reviews of this task that ended, the oldest first.
    async fn ended(&self, task: &Task) -> Result<Vec<Happened>, ServiceError> {
        let subject = self.tasks.subject(task);
        let all = event::all(&self.tasks.ledger).await?.into_iter();
        let ended = all.filter(|event| !matches!(event, ServiceEvent::ReviewStarted(_)));
        let of_task = ended.filter(|event| event.happened().subject == subject.as_str());
        Ok(of_task.map(|event| event.happened().clone()).collect())
    }

    async fn joined(&self, task: &Task, happened: Happened) -> Result<Finished, ServiceError> {
        let task = self.tasks.find(&task.id).await?;
        let outcome = match (happened.status, happened.review.result) {
            (TaskStatus::Complete, ReviewResult::Approved) => Outcome::Passed,
            (TaskStatus::Blocked, _) => Outcome::Stopped(Stop::AttemptsUsedUp),
            (_, ReviewResult::NeedsRevision | ReviewResult::Rejected) => Outcome::NeedsWork,
            _ => Outcome::NoVerdict(NoVerdict::Unavailable),
        };
        Ok(Finished { task, happened, outcome, max_revisions: self.settings.max_revisions, judged: None })
    }

    /// Records the failure of a review whose process ended, once.
    async fn close_interrupted(&self, task: &Task) -> Result<(), ServiceError> {
        let last = event::latest_of(&self.tasks.ledger, &self.tasks.subject(task)).await?;
        match last {
            Some(ServiceEvent::ReviewStarted(started)) => {
                self.failed(started, "the review was interrupted").await
            }
            _ => Ok(()),
        }
    }

    /// The result where a person decided meanwhile to let the task pass.
    async fn decided(&self, task: &mut Task) -> Result<Option<Finished>, ServiceError> {
        let Some(stored) = self.latest(task).await? else { return Ok(None) };
        let State::Settled(settlement @ (Settlement::Overridden | Settlement::Skipped)) = stored.review.state
        else {
            return Ok(None);
        };
        let Some(happened) = after_decision(&self.tasks, task, &stored.review, (self.now)()).await? else {
            return Ok(None);
        };
        let (outcome, max_revisions) = (settlement.into(), self.settings.max_revisions);
        Ok(Some(Finished { task: task.clone(), happened, outcome, max_revisions, judged: None }))
    }

    async fn latest(&self, task: &Task) -> Result<Option<Stored>, ServiceError> {
        Ok(self.tasks.ledger.latest_for(&self.tasks.subject(task)).await?)
    }

    async fn pending(&self, task: &Task, at: String) -> Result<Happened, ServiceError> {
        let open = |stored: &Stored| !matches!(stored.review.state, State::Settled(_));
        let attempts = self.latest(task).await?.filter(open).map_or(0, |stored| stored.review.attempts);
        Ok(Happened::begin(&self.tasks, task, attempts + 1, at, &self.settings.command))
    }

    async fn failed(&self, mut started: Happened, why: &str) -> Result<(), ServiceError> {
        let (at_ms, at) = (self.now)();
        started.review.reviewed_at = at;
        started.review.error = Some(self.engine.planner().redaction.redact(why).0.into_owned());
        Ok(ServiceEvent::ReviewFailed(started).record(&self.tasks.ledger, at_ms).await?)
    }

    async fn judge(&self, task: &Task, cancel: &CancellationToken) -> Result<(Ticket, Stored), ServiceError> {
        let root = Root::new(&self.tasks.root).map_err(ServiceError::io("the project cannot be used"))?;
        let wanted = ChangeWanted {
            base: self.base.clone(),
            since: self.base.clone(),
            left_out: self.left_out.clone(),
            keeps_tree: needs_tree(&self.settings),
            ..ChangeWanted::default()
        };
        // An empty change fails before any command runs.
        let mut change = workspace::change(&root, &wanted).await?;
        let around = TestRun {
            guard: &self.guard,
            work: &self.tasks.root,
            settings: &self.checkout,
            environment: &self.environment,
            setup_timeout: Duration::from_secs(SETUP_SECONDS),
            cancel,
        };
        let log = self.session_log.clone();
        let known = Known::gather(&self.settings, log, &around, change.tree.as_deref()).await;
        let known = known.map_err(ServiceError::io("the project's commands could not be run"))?;
        if change.tree.is_none() {
            // Tests in the folder of the work may write files there.
            change = workspace::change(&root, &wanted).await?;
        }
        let sections = known.sections(Some(task), &self.settings);
        let max = self.settings.max_revisions;
        let request = Request {
            subject: self.tasks.subject(task),
            rules: self.rules.clone(),
            policy: Policy {
                attempts: Attempts::AtMost(max),
                // The one criterion fails the same way in every round.
                max_stalled_rounds: self.policy.max_stalled_rounds.max(max),
                ..self.policy.clone()
            },
            outputs: vec![],
            files: vec![],
            guidance_files: vec![],
            change: Some(SubmittedChange::new(change, self.left_out.clone(), sections)),
            notes: None,
            fresh: false,
        };
        let mut prepared = self.engine.planner().prepare(request).await?;
        // Words that no person has seen may ask for less than the task did.
        prepared.submission.steers_gate |= task.basis == Basis::Unknown;
        let ticket = self.engine.submit(prepared).await?;
        let stored = self.engine.wait(&ticket, cancel).await?;
        Ok((ticket, stored))
    }

    async fn finish(
        &self,
        mut task: Task,
        mut happened: Happened,
        ticket: Ticket,
        stored: Stored,
    ) -> Result<Finished, ServiceError> {
        let outcome = ticket.outcome(&stored);
        let review = &stored.review;
        let max_revisions = match review.policy.attempts {
            Attempts::AtMost(max) => max,
            Attempts::Once => 1,
        };
        let (at_ms, at) = (self.now)();
        happened.review.id = Some(review.id.to_string());
        happened.review.reviewed_at.clone_from(&at);
        happened.review.raw_output = self.raw(review).await?;
        let record = &mut happened.review;
        (happened.status, happened.notification) = match concluded(review, outcome, &task) {
            Err(why) => {
                record.error = Some(why);
                (TaskStatus::AwaitingReview, None)
            }
            Ok(reviewed) => {
                let failing = reviewed.result != ReviewResult::Approved;
                let attempt = if failing { review.attempts.max(1) } else { review.attempts + 1 };
                let stopped = matches!(outcome, Outcome::Stopped(_));
                let max_revisions = if stopped { attempt } else { max_revisions };
                let after = status_after(&task.title, &reviewed, attempt, max_revisions);
                let Reviewed { result, issues, summary, blocking } = reviewed;
                (record.attempt, record.result, record.blocking) = (attempt, result, blocking);
                (record.issues, record.summary) = (issues, summary);
                after
            }
        };
        ServiceEvent::ended(happened.clone()).record(&self.tasks.ledger, at_ms).await?;
        let concluded = happened.review.error.is_none();
        let block = concluded.then(|| ReviewBlock {
            attempt: happened.review.attempt,
            last_result: happened.review.result,
            issues: happened.review.issues.clone(),
            reviewed_at: at,
        });
        self.tasks.set(&mut task, happened.status, block.as_ref(), at_ms).await?;
        Ok(Finished { task, happened, outcome, max_revisions, judged: Some((ticket, stored)) })
    }

    async fn raw(&self, review: &Review) -> Result<Option<String>, ServiceError> {
        let Some(round) = review.round() else { return Ok(None) };
        let calls = self.tasks.ledger.calls(&review.id).await?;
        let of_round = calls.into_iter().filter(|call| call.round == round.n);
        let said: Vec<String> = of_round.filter_map(|call| call.report.reply).collect();
        let said = said.join("\n\n");
        Ok((!said.is_empty()).then(|| text::cut_noted(&said, RAW_BYTES_MAX).into_owned()))
    }
}

/// Refuses a task whose review was stopped: a person has to decide first.
pub async fn refuse_stopped(tasks: &Tasks, task: &Task) -> Result<(), ServiceError> {
    let Some(latest) = tasks.ledger.latest_for(&tasks.subject(task)).await? else { return Ok(()) };
    match latest.review.state {
        State::Settled(Settlement::Stopped(why)) if why != Stop::Withdrawn => Err(ServiceError::Blocked {
            id: task.id.clone(),
            why: Outcome::Stopped(why).to_string(),
            review: latest.review.id.to_string(),
        }),
        _ => Ok(()),
    }
}

async fn until_free(lock: File, cancel: &CancellationToken) -> Result<File, ServiceError> {
    let waiting = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock));
    let locked = tokio::select! {
        locked = waiting => locked,
        () = cancel.cancelled() => return Err(EngineError::Interrupted.into()),
    };
    let locked = locked.map_err(|error| EngineError::Internal(error.to_string()))?;
    locked.map_err(ServiceError::io("waiting for the running review failed"))
}

fn concluded(review: &Review, outcome: Outcome, task: &Task) -> Result<Reviewed, String> {
    match outcome {
        Outcome::Passed | Outcome::Overridden | Outcome::Skipped => {
            let all = together(review);
            let (issues, summary) = all.map(|all| (all.issues, all.summary)).unwrap_or_default();
            Ok(Reviewed { result: ReviewResult::Approved, issues, summary, blocking: false })
        }
        Outcome::NeedsWork | Outcome::Stopped(_) => {
            let said = together(review).filter(|said| !said.passes());
            Ok(said.unwrap_or_else(|| by_findings(review)))
        }
        Outcome::AwaitingPerson if task.basis == Basis::Unknown => {
            Err("the task is new in the plan, so a person must decide whether it asks for the right work"
                .to_owned())
        }
        Outcome::AwaitingPerson => {
            Err("it changes files that control reviews or runs, so a person must decide".to_owned())
        }
        other => {
            let round = review.round();
            let why = round.and_then(|round| {
                round.assignments.iter().find_map(|assignment| round.failure_of(assignment))
            });
            Err(why.map_or_else(|| other.to_string(), |failure| format!("{other}: {}", failure.detail)))
        }
    }
}

/// The worst conclusion of all free-text reviews of the last round.
fn together(review: &Review) -> Option<Reviewed> {
    let round = review.round()?;
    let answers = round.assignments.iter().filter_map(|assignment| round.answer_to(assignment));
    let all: Vec<&Reviewed> = answers.filter_map(|(_, given)| given.answer.reviewed.as_ref()).collect();
    let is = |result: ReviewResult| all.iter().any(|one| one.result == result);
    let result = match () {
        () if all.is_empty() => return None,
        () if is(ReviewResult::Rejected) => ReviewResult::Rejected,
        () if all.iter().all(|one| one.result == ReviewResult::Approved) => ReviewResult::Approved,
        () => ReviewResult::NeedsRevision,
    };
    let of_result = all.iter().filter(|one| one.result == result && !one.summary.trim().is_empty());
    Some(Reviewed {
        result,
        issues: all.iter().flat_map(|one| one.issues.iter().cloned()).collect(),
        summary: of_result.map(|one| one.summary.trim()).collect::<Vec<_>>().join(" "),
        blocking: all.iter().any(|one| one.blocking),
    })
}

fn by_findings(review: &Review) -> Reviewed {
    let findings = review.findings();
    let issues = |finding: &Finding| -> Vec<String> {
        let name = finding.criterion.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
        let place = |place: Option<String>| place.map(|place| format!(" ({place})")).unwrap_or_default();
        finding.in_brief().map(|(first, at)| format!("{name}{first}{}", place(at))).collect()
    };
    Reviewed {
        result: ReviewResult::NeedsRevision,
        issues: findings.iter().flat_map(issues).collect(),
        summary: text::counted(findings.len(), "finding", "findings"),
        blocking: false,
    }
}
