//! The status of a project: open reviews, and how reviews ended.

use super::envelope::outcome_and_reason;
use super::{Disagreement, OutcomeName, ReviewRow};
use crate::time::rfc3339;
use countersign_core::ids::ReviewId;
use countersign_doors::jobs::overview;
use countersign_doors::run::status::TaskLine;
use countersign_doors::service::event::Happened;
use countersign_engine::ledger::Count;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `status` answers.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Status {
    /// Open reviews, at most 50.
    pub open: Vec<ReviewRow>,
    /// Whether there are more.
    pub open_more: bool,
    /// Running workflows.
    pub workflows: Vec<Workflow>,
    /// Running reviews of tasks, in any process.
    pub task_reviews: Vec<ActiveReview>,
    /// The tasks of runs, in the order of their list; null without one.
    pub tasks: Option<Vec<RunTask>>,
    /// Files that say something else than the ledger.
    pub disagreements: Vec<Disagreement>,
    /// How many reviews ended how; the keys are outcomes, with the reason behind a slash.
    pub ended: BTreeMap<String, u64>,
    #[serde(skip)]
    pub ends: Vec<Count>,
    /// How many tasks are in which state, in words.
    #[serde(skip)]
    pub counted: String,
    /// Whether anything was ever judged.
    #[serde(skip)]
    pub has_ledger: bool,
}

/// A running review of a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ActiveReview {
    /// The task.
    pub task_id: String,
    /// Its title.
    pub title: String,
    /// What its reviews are about.
    pub subject: String,
    /// Which review of the task it is, from 1.
    pub attempt: u32,
    /// When it began.
    pub started_at: Option<String>,
    #[serde(skip)]
    pub started_ms: Option<i64>,
}

impl From<&Happened> for ActiveReview {
    fn from(happened: &Happened) -> Self {
        let began = happened.review.reviewed_at.parse::<jiff::Timestamp>().ok();
        let started_ms = began.map(|time| time.as_millisecond());
        let Happened { task_id, title, subject, review, .. } = happened.clone();
        let (attempt, started_at) = (review.attempt, started_ms.and_then(rfc3339));
        Self { task_id, title, subject, attempt, started_at, started_ms }
    }
}

/// A running workflow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Workflow {
    /// `job/workflow`.
    pub workflow: String,
    /// Its session.
    pub session_id: String,
    /// Its agent.
    pub agent_id: String,
    /// The goal.
    pub goal: String,
    /// How many of its steps are done.
    pub steps_done: usize,
    /// How many it has.
    pub steps: usize,
    /// The steps that can be submitted now.
    pub open_steps: Vec<OpenStep>,
    /// Steps that were finished while the gate was off.
    pub not_judged: Vec<String>,
    /// When the last event of its session was recorded.
    pub changed_at: Option<String>,
    #[serde(skip)]
    pub changed_ms: i64,
}

/// A step that can be submitted now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenStep {
    /// The step.
    pub step_id: String,
    /// Its latest review; null before it was submitted.
    pub review: Option<ReviewId>,
    /// Its outcome.
    pub outcome: Option<OutcomeName>,
    /// Why there is no verdict, or why it was stopped.
    pub reason: Option<&'static str>,
    /// How often it failed.
    pub attempts: u32,
    /// Whether it waits for a person.
    pub blocked: bool,
    /// Whether it waits for the author's self-review.
    pub self_review: bool,
}

impl From<overview::UnderWay> for Workflow {
    fn from(workflow: overview::UnderWay) -> Self {
        Self {
            workflow: workflow.workflow,
            session_id: workflow.session_id,
            agent_id: workflow.agent,
            goal: workflow.goal,
            steps_done: workflow.steps_done,
            steps: workflow.steps,
            open_steps: workflow.open.into_iter().map(OpenStep::from).collect(),
            not_judged: workflow.not_judged,
            changed_at: rfc3339(workflow.changed_ms),
            changed_ms: workflow.changed_ms,
        }
    }
}

impl From<overview::OpenStep> for OpenStep {
    fn from(step: overview::OpenStep) -> Self {
        let blocked = step.is_blocked();
        let overview::OpenStep { step_id, review, attempts, standing, self_review } = step;
        let (outcome, reason) = outcome_and_reason(standing);
        Self { step_id, review, outcome, reason, attempts, blocked, self_review }
    }
}

/// A task of runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunTask {
    /// The task.
    pub id: String,
    /// Its title.
    pub name: String,
    /// How urgent it is.
    pub priority: &'static str,
    /// Its status in the list.
    pub status: &'static str,
    /// The milestone it belongs to.
    pub milestone: Option<String>,
    /// Its state after its last run.
    pub state: String,
    /// How often it was tried.
    pub attempts: u64,
    /// What the attempts cost, as far as it is known.
    pub cost_usd: Option<f64>,
    /// Why the last attempt failed.
    pub error_code: Option<String>,
    /// How its review ended.
    pub review_status: Option<String>,
    /// How many issues the review had.
    pub issues: usize,
    /// The review.
    pub review: Option<String>,
    #[serde(skip)]
    pub line: String,
}

impl From<&TaskLine<'_>> for RunTask {
    fn from(standing: &TaskLine<'_>) -> Self {
        let TaskLine { task, summary } = *standing;
        Self {
            id: task.id.clone(),
            name: task.name.clone(),
            priority: task.priority.word(),
            status: task.status.word(),
            milestone: task.milestone.clone(),
            state: standing.state().word().to_owned(),
            attempts: summary.map_or(0, |summary| summary.attempts),
            cost_usd: summary.and_then(|summary| summary.cost_usd),
            error_code: summary.and_then(|summary| Some(summary.error_code.as_ref()?.word().to_owned())),
            review_status: summary
                .and_then(|summary| Some(summary.review_status.as_ref()?.word().to_owned())),
            issues: summary.map_or(0, |summary| summary.issues),
            review: summary.and_then(|summary| summary.review_id.clone()),
            line: standing.line(),
        }
    }
}
