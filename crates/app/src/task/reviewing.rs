//! The review of a task: whether one is needed, its reviewers, its answer and its notification.

use super::panel;
use crate::Failure;
use crate::answer::v1::task::OneTask;
use crate::author::OWN_CALL;
use crate::change;
use crate::notify::{self, About, Notice};
use crate::project::{self, Project};
use crate::reader::Reader;
use crate::review_request::built_in_rules;
use crate::tasks::{now, plan_warnings};
use countersign_core::outcome::Outcome;
use countersign_core::rule::Rule;
use countersign_core::text::visible_line;
use countersign_doors::service::event::{OFF, record_unreviewed};
use countersign_doors::service::pipeline::{Finished, Reviewing, free_rule, refuse_stopped};
use countersign_doors::service::task::{Basis, Home, Task, TaskStatus, completed, no_verdict, person_needed};
use countersign_doors::service::tasks::Tasks;
use countersign_engine::config::{Pipeline, TestsIn, Trigger};
use countersign_engine::engine::{Engine, Planner, Ticket};
use countersign_engine::ledger::Ledger;
use countersign_engine::tested::IN_WORK;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// When the trigger of the project asks for it; until then the task waits.
    Triggered,
    Now,
}

/// A review, or why none is needed.
pub enum TaskReview {
    /// With warnings.
    Answered(WithoutReview, Box<OneTask>, Vec<String>),
    Ready(Box<Ready>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutReview {
    Nothing,
    /// The task waits for a request, because of this trigger.
    Waits(Trigger),
    /// The task is complete, because reviews are off.
    Completed,
}

impl WithoutReview {
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Nothing | Self::Completed => Outcome::Passed,
            Self::Waits(_) => Outcome::AwaitingPerson,
        }
    }
}

pub struct Ready {
    pub base: change::Base,
    tasks: Tasks,
    pub task: Task,
    rules: Vec<Rule>,
    pub planner: Planner,
    session_log: Option<String>,
    pub warnings: Vec<String>,
}

pub struct Reviewed {
    pub outcome: Outcome,
    pub answer: OneTask,
    pub warnings: Vec<String>,
    pub ticket: Option<Ticket>,
    /// The notification, to be sent after the answer, because it may take a while.
    pub telling: Option<PendingNotification>,
}

pub struct PendingNotification {
    project: Project,
    told: Notice,
}

impl PendingNotification {
    pub async fn tell(self, ledger: &Ledger) {
        notify::tell(&self.project, ledger, self.told).await;
    }
}

pub async fn begin(
    base: change::Base,
    tasks: Tasks,
    typed: &str,
    session_log: Option<String>,
    when: When,
) -> Result<TaskReview, Failure> {
    tasks.see_plan(now().0).await?;
    let mut task = tasks.find(typed).await?;
    let mut warnings = warnings(&base, &task, session_log.is_some());
    warnings.extend(plan_warnings(&base.project, &tasks.plan));
    let settings = &base.project.config.service;
    match (when, task.status) {
        (When::Triggered, TaskStatus::Complete) => {
            tasks.record_given(&task, now().0).await?;
            return Ok(answered(WithoutReview::Nothing, &task, warnings));
        }
        (_, TaskStatus::Skipped) => return Err(super::is_skipped(&task)),
        _ => {}
    }
    if when == When::Triggered && settings.enabled && settings.trigger != Trigger::ScriptCompletion {
        tasks.set(&mut task, TaskStatus::AwaitingReview, None, now().0).await?;
        let next = vec![format!("countersign task review {}", visible_line(&task.id))];
        let answer = OneTask { next, ..OneTask::new(&task) };
        return Ok(TaskReview::Answered(WithoutReview::Waits(settings.trigger), Box::new(answer), warnings));
    }
    if !settings.enabled {
        record_unreviewed(&tasks, &task, now()).await?;
        tasks.set(&mut task, TaskStatus::Complete, None, now().0).await?;
        warnings.push(OFF.to_owned());
        return Ok(answered(WithoutReview::Completed, &task, warnings));
    }
    // At once, also for callers that do not wait for the end.
    refuse_stopped(&tasks, &task).await?;
    let (rules, planner) = asked(&base).await?;
    Ok(TaskReview::Ready(Box::new(Ready { base, tasks, task, rules, planner, session_log, warnings })))
}

async fn asked(base: &change::Base) -> Result<(Vec<Rule>, Planner), Failure> {
    let project = &base.project;
    Ok(match project.config.service.pipeline {
        Pipeline::TwoCall => {
            let panel = panel::two_call(project, project.trusted_commit().or(base.commit.as_deref())).await?;
            (vec![free_rule()], project.planner_for(panel)?)
        }
        Pipeline::Structured if project.config.rules.is_empty() => {
            (built_in_rules()?, project.planner(None)?)
        }
        Pipeline::Structured => {
            let rules = project.config.rules.iter().map(Rule::about_whole_files).collect();
            (rules, project.planner(None)?)
        }
    })
}

fn answered(did: WithoutReview, task: &Task, warnings: Vec<String>) -> TaskReview {
    TaskReview::Answered(did, Box::new(OneTask::new(task)), warnings)
}

fn warnings(base: &change::Base, task: &Task, has_log: bool) -> Vec<String> {
    let shown = &base.project.config.service.context;
    let mut warnings: Vec<String> = base.warnings.clone();
    if has_log && !shown.session_log {
        warnings.push("`context.session_log` is off: the log is not shown to the reviewer".to_owned());
    }
    warnings.extend(contradicted(task));
    warnings.extend(rewritten(task));
    let service = &base.project.config.service;
    if service.commands.tests_in == TestsIn::Worktree && (shown.tests || shown.lint) {
        warnings.push(format!("`commands.tests_in` is worktree: {IN_WORK}"));
    }
    if !shown.diff {
        warnings.push("`context.diff` is off: the reviewer does not see the change".to_owned());
    }
    warnings
}

impl Ready {
    /// Whether a review of the task is already under way in any process.
    pub fn is_under_way(&self) -> bool {
        self.tasks.is_reviewed_now(&self.task)
    }

    pub async fn review(self, engine: Engine, cancel: &CancellationToken) -> Result<Reviewed, Failure> {
        let Self { base, tasks, task, rules, session_log, warnings, .. } = self;
        let project = &base.project;
        let mut environment = project.surroundings().given();
        environment.push((OWN_CALL.into(), "task".into()));
        let reviewing = Reviewing {
            engine: engine.clone(),
            rules,
            policy: project.config.policy.clone(),
            session_log,
            base: base.commit.clone(),
            left_out: left_out(&tasks)?,
            guard: project::guard_program()?,
            settings: project.config.service.clone(),
            checkout: project.checkout(),
            tasks,
            environment,
            now,
        };
        let finished = reviewing.review(task, cancel).await?;
        let (outcome, answer) = (finished.outcome, answer(&finished));
        let telling = told(&finished).map(|told| PendingNotification { project: base.project, told });
        let ticket = finished.judged.map(|(ticket, _)| ticket);
        Ok(Reviewed { outcome, answer, warnings, ticket, telling })
    }
}

fn answer(finished: &Finished) -> OneTask {
    let Finished { task, happened, max_revisions, .. } = finished;
    OneTask {
        review: Some(happened.review.clone()),
        max_revisions: Some(*max_revisions),
        notification: happened.notification.clone(),
        next: next(finished),
        ..OneTask::new(task)
    }
}

fn next(finished: &Finished) -> Vec<String> {
    let Finished { task, happened, outcome, judged, .. } = finished;
    let id = visible_line(&task.id);
    match task.status {
        TaskStatus::InProgress => {
            let found = judged.as_ref().and_then(|(_, stored)| stored.review.findings().pop());
            let dispute = found.map(|found| {
                format!("or, where it is wrong: countersign dispute {} --evidence TEXT", found.id)
            });
            let fix = ["fix the findings".to_owned(), format!("then countersign task done {id}")];
            fix.into_iter().chain(dispute).collect()
        }
        TaskStatus::AwaitingReview if *outcome == Outcome::AwaitingPerson => {
            vec![Reader::of_command().person_decides(&id, || {
                format!("a person decides: countersign approve|reject|fix|skip {id} --reason TEXT")
            })]
        }
        TaskStatus::AwaitingReview => vec![format!("countersign task review {id}")],
        TaskStatus::Blocked => {
            let id = happened.review.id.clone().unwrap_or_default();
            vec![Reader::of_command().person_decides(&id, || {
                format!("a person decides: countersign unblock {id} --reason TEXT, or approve")
            })]
        }
        _ => vec![],
    }
}

fn told(finished: &Finished) -> Option<Notice> {
    let Finished { task, happened, judged, outcome, .. } = finished;
    // Another process notifies of its own reviews, and a person knows their own decision.
    judged.as_ref()?;
    let (about, notification) = match (&happened.notification, &happened.review.error, task.status) {
        (Some(notification), ..) => (About::ReviewFailed, notification.clone()),
        _ if *outcome == Outcome::AwaitingPerson => {
            (About::PersonNeeded, person_needed(&task.title, &task.id))
        }
        (None, Some(why), _) => (About::NoVerdict, no_verdict(&task.title, why)),
        (None, None, TaskStatus::Complete) => (About::TaskComplete, completed(&task.title)),
        (None, None, _) => return None,
    };
    let (subject, review) = (happened.subject.clone(), happened.review.id.clone());
    Some(Notice { about, subject, review, notification })
}

/// Files that are no part of the work: the plan, whose statuses we write.
fn left_out(tasks: &Tasks) -> Result<Vec<String>, Failure> {
    let plan = (!tasks.read()?.tasks.is_empty()).then(|| tasks.plan.clone());
    Ok(plan.into_iter().collect())
}

/// A warning where the plan says another status than the ledger.
fn contradicted(task: &Task) -> Option<String> {
    let Home::Plan { file } = &task.home else { return None };
    let (in_file, recorded) = task.disagreement()?;
    let (id, in_file, recorded) = (visible_line(&task.id), in_file.word(), recorded.word());
    Some(format!("{file} says that task {id} is {in_file}, but its recorded status is {recorded}"))
}

/// A warning where scope or acceptance are not those that a person has seen: the reviewer does not judge the plan.
fn rewritten(task: &Task) -> Option<String> {
    let Home::Plan { file } = &task.home else { return None };
    let id = visible_line(&task.id);
    match &task.basis {
        Basis::Own => None,
        Basis::Kept(source) => Some(format!(
            "the scope or acceptance of task {id} changed in {file}, or its title. This review uses the words from {source}; check the change of {file} yourself"
        )),
        Basis::Unknown => Some(format!(
            "task {id} is new in {file}, and no person is known to have seen its scope and acceptance: if it passes, a person must decide"
        )),
    }
}
