//! A review of a task, from what was asked for to its answer, for whoever waits for it.

use super::{panel, words};
use crate::cli::Failure;
use crate::output::Answer;
use countersign_app::change;
use countersign_app::notify::{self, About, Told};
use countersign_app::project::{self, Project};
use countersign_app::tasks::now;
use countersign_app::wanted::built_in_rules;
use countersign_core::outcome::Outcome;
use countersign_core::rule::Rule;
use countersign_doors::service::pipeline::{Finished, Reviewing, free_rule, refuse_stopped};
use countersign_doors::service::plan;
use countersign_doors::service::task::{Home, Task, TaskStatus, completed, no_verdict, person_needed};
use countersign_doors::service::tasks::Tasks;
use countersign_engine::config::{Pipeline, Source, Trigger};
use countersign_engine::engine::{Engine, Planner, Ticket};
use countersign_engine::git::Git;
use countersign_engine::ledger::Ledger;
use tokio_util::sync::CancellationToken;

/// When work is to be reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It is done: at once under its trigger, otherwise the task waits.
    Triggered,
    /// Whatever the trigger.
    Now,
}

/// What comes of asking for a review.
pub enum Begun {
    /// Nobody needs to be asked.
    Answered(Answer),
    /// It can be performed.
    Ready(Box<Ready>),
}

/// A review that can be performed.
pub struct Ready {
    base: change::Base,
    tasks: Tasks,
    task: Task,
    rules: Vec<Rule>,
    planner: Planner,
    session_log: Option<String>,
    warnings: Vec<String>,
}

/// What came of a review.
pub struct Reviewed {
    pub answer: Answer,
    /// What to note once the answer reached somebody.
    pub ticket: Option<Ticket>,
    /// What people are told, once the answer is out: telling may take a while.
    pub telling: Option<Telling>,
}

/// Something people are told.
pub struct Telling {
    project: Project,
    told: Told,
}

impl Telling {
    /// Tells them.
    pub async fn tell(self, ledger: &Ledger) {
        notify::tell(&self.project, ledger, self.told).await;
    }
}

/// Begins a review of a task.
pub async fn begin(
    base: change::Base,
    tasks: Tasks,
    typed: &str,
    session_log: Option<String>,
    when: When,
) -> Result<Begun, Failure> {
    let mut task = tasks.find(typed).await?;
    let settings = &base.project.config.service;
    match (when, task.status) {
        (When::Triggered, TaskStatus::Complete) => {
            return Ok(Begun::Answered(words::moved(&task, "is complete already")));
        }
        (_, TaskStatus::Skipped) => return Err(super::is_skipped(&task)),
        _ => {}
    }
    if when == When::Triggered && settings.enabled && settings.trigger != Trigger::ScriptCompletion {
        tasks.set(&mut task, TaskStatus::AwaitingReview, None, now().0).await?;
        return Ok(Begun::Answered(words::waits(&task, settings.trigger)));
    }
    if !settings.enabled {
        tasks.set(&mut task, TaskStatus::Complete, None, now().0).await?;
        let words = "is complete: reviews are switched off (`review.enabled`)";
        return Ok(Begun::Answered(words::moved(&task, words)));
    }
    // Said at once, also to those who do not wait for the end.
    refuse_stopped(&tasks, &task).await?;
    let warnings = warnings(&base, &tasks, &task, session_log.is_some()).await?;
    let (rules, planner) = asked(&base).await?;
    Ok(Begun::Ready(Box::new(Ready { base, tasks, task, rules, planner, session_log, warnings })))
}

/// By which rules, and by whom.
async fn asked(base: &change::Base) -> Result<(Vec<Rule>, Planner), Failure> {
    let project = &base.project;
    Ok(match project.config.service.pipeline {
        Pipeline::TwoCall => {
            let panel = panel::two_call(project, base.commit()).await?;
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
    let mut warnings: Vec<String> = base.edited().into_iter().collect();
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
    /// The project, under the configuration of the commit the work is compared with.
    pub fn project(&self) -> &Project {
        &self.base.project
    }

    /// The task as it stands now.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Whether a review of the task is under way already, in whichever process.
    pub fn is_under_way(&self) -> bool {
        self.tasks.is_reviewed_now(&self.task)
    }

    /// What to know beside the answer.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// For the engine that performs it.
    pub fn planner(&self) -> Planner {
        self.planner.clone()
    }

    /// Performs it.
    pub async fn review(self, engine: Engine, cancel: &CancellationToken) -> Result<Reviewed, Failure> {
        let Self { base, tasks, task, rules, session_log, warnings, .. } = self;
        let project = &base.project;
        let mut environment: Vec<_> = std::env::vars_os().collect();
        environment.push(("COUNTERSIGN_CALL".into(), "task".into()));
        let reviewing = Reviewing {
            engine: engine.clone(),
            rules,
            policy: project.config.policy.clone(),
            session_log,
            base: base.commit().map(str::to_owned),
            left_out: left_out(&tasks)?,
            guard: project::guard_program()?,
            settings: project.config.service.clone(),
            tasks,
            environment,
            now,
        };
        let finished = reviewing.review(task, cancel).await?;
        let answer = Answer { warnings, ..words::finished(&finished) };
        let telling = told(&finished).map(|told| Telling { project: base.project, told });
        Ok(Reviewed { answer, ticket: finished.judged.map(|(ticket, _)| ticket), telling })
    }
}

/// What people are told of a review, where that is for them.
fn told(finished: &Finished) -> Option<Told> {
    let Finished { task, happened, judged, outcome, .. } = finished;
    // What another process reviewed, that process tells; what a person decided, that person knows.
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
    Some(Told { about, subject, review, notification })
}

/// What is no part of the work: the plan, whose statuses we write.
fn left_out(tasks: &Tasks) -> Result<Vec<String>, Failure> {
    let plan = (!tasks.read()?.tasks.is_empty()).then(|| tasks.plan.clone());
    Ok(plan.into_iter().collect())
}

/// What to say when the work rewrites what the task asks for: the plan is not part of what the reviewer judges.
async fn rewritten(base: &change::Base, tasks: &Tasks, task: &Task) -> Result<Option<String>, Failure> {
    let (Some(commit), Home::Plan { file }) = (base.commit(), &task.home) else { return Ok(None) };
    let found = Git::at(&tasks.root).file_at(commit, file).await;
    let Some(text) = found.ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Ok(None);
    };
    let before = plan::parse(&Source::new(file, &text)).plan;
    let before = before.find(&task.title).map(|before| (before.scope.clone(), before.acceptance.clone()));
    let is_other = before.is_some_and(|before| before != (task.scope.clone(), task.acceptance.clone()));
    Ok(is_other.then(|| {
        format!(
            "scope or acceptance of task {} are not what they were: look at what changed in {file} yourself",
            task.id
        )
    }))
}
