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
use crate::tasks::now;
use countersign_core::outcome::Outcome;
use countersign_core::rule::Rule;
use countersign_core::text::visible_line;
use countersign_doors::service::pipeline::{Finished, Reviewing, free_rule, refuse_stopped};
use countersign_doors::service::plan;
use countersign_doors::service::task::{Home, Task, TaskStatus, completed, no_verdict, person_needed};
use countersign_doors::service::tasks::Tasks;
use countersign_engine::config::{Pipeline, Source, Trigger};
use countersign_engine::engine::{Engine, Planner, Ticket};
use countersign_engine::git::Git;
use countersign_engine::ledger::Ledger;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// When the trigger of the project asks for it; until then the task waits.
    Triggered,
    Now,
}

/// A review, or why none is needed.
pub enum TaskReview {
    Answered(WithoutReview, Box<OneTask>),
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
    let mut task = tasks.find(typed).await?;
    let settings = &base.project.config.service;
    match (when, task.status) {
        (When::Triggered, TaskStatus::Complete) => {
            return Ok(TaskReview::Answered(WithoutReview::Nothing, Box::new(OneTask::new(&task))));
        }
        (_, TaskStatus::Skipped) => return Err(super::is_skipped(&task)),
        _ => {}
    }
    if when == When::Triggered && settings.enabled && settings.trigger != Trigger::ScriptCompletion {
        tasks.set(&mut task, TaskStatus::AwaitingReview, None, now().0).await?;
        let next = vec![format!("countersign task review {}", visible_line(&task.id))];
        let answer = OneTask { next, ..OneTask::new(&task) };
        return Ok(TaskReview::Answered(WithoutReview::Waits(settings.trigger), Box::new(answer)));
    }
    if !settings.enabled {
        tasks.set(&mut task, TaskStatus::Complete, None, now().0).await?;
        return Ok(TaskReview::Answered(WithoutReview::Completed, Box::new(OneTask::new(&task))));
    }
    // At once, also for callers that do not wait for the end.
    refuse_stopped(&tasks, &task).await?;
    let warnings = warnings(&base, &tasks, &task, session_log.is_some()).await?;
    let (rules, planner) = asked(&base).await?;
    Ok(TaskReview::Ready(Box::new(Ready { base, tasks, task, rules, planner, session_log, warnings })))
}

async fn asked(base: &change::Base) -> Result<(Vec<Rule>, Planner), Failure> {
    let project = &base.project;
    Ok(match project.config.service.pipeline {
        Pipeline::TwoCall => {
            let panel = panel::two_call(project, base.commit.as_deref()).await?;
            (vec![free_rule()], project.planner_for(panel)?)
        }
        Pipeline::Structured if project.config.rules.is_empty() => {
            (built_in_rules()?, project.planner(None)?)
        }
        Pipeline::Structured => (project.config.rules.clone(), project.planner(None)?),
    })
}

async fn warnings(
    base: &change::Base,
    tasks: &Tasks,
    task: &Task,
    has_log: bool,
) -> Result<Vec<String>, Failure> {
    let shown = &base.project.config.service.context;
    let mut warnings: Vec<String> = base.edited.clone().into_iter().collect();
    if has_log && !shown.session_log {
        warnings.push("`context.session_log` is off: the log is not shown to the reviewer".to_owned());
    }
    warnings.extend(rewritten(base, tasks, task).await?);
    if !shown.diff {
        warnings.push("`context.diff` is off: the reviewer does not see the change".to_owned());
    }
    Ok(warnings)
}

impl Ready {
    /// Whether a review of the task is already under way in any process.
    pub fn is_under_way(&self) -> bool {
        self.tasks.is_reviewed_now(&self.task)
    }

    pub async fn review(self, engine: Engine, cancel: &CancellationToken) -> Result<Reviewed, Failure> {
        let Self { base, tasks, task, rules, session_log, warnings, .. } = self;
        let project = &base.project;
        let mut environment: Vec<_> = std::env::vars_os().collect();
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

/// A warning where scope or acceptance of the task changed since the base: the reviewer does not judge the plan.
async fn rewritten(base: &change::Base, tasks: &Tasks, task: &Task) -> Result<Option<String>, Failure> {
    let (Some(commit), Home::Plan { file }) = (&base.commit, &task.home) else { return Ok(None) };
    let found = Git::at(&tasks.root).file_at(commit, file).await;
    let Some(text) = found.ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Ok(None);
    };
    let before = plan::parse(&Source::new(file, &text)).plan;
    let before = before.find(&task.title).map(|before| (before.scope.clone(), before.acceptance.clone()));
    let is_other = before.is_some_and(|before| before != (task.scope.clone(), task.acceptance.clone()));
    Ok(is_other.then(|| {
        format!("the scope or acceptance of task {} changed: check the change of {file} yourself", task.id)
    }))
}
