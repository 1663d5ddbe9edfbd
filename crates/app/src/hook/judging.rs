//! The review of an agent's change: by the rules of the base, as a loop with the session as subject.

use super::Note;
use super::look::Work;
use crate::author::OWN_CALL;
use crate::change::gate_words;
use crate::notify::{self, Notice};
use crate::project::{self, Project};
use crate::review_request::{Narrowed, ReviewRequest, Words};
use crate::task::session_log;
use crate::tasks::{known_plan, now};
use crate::{Code, Failure};
use countersign_core::ids::Subject;
use countersign_core::outcome::Outcome;
use countersign_core::prompt::Sections;
use countersign_core::review::{Actor, ActorKind, Channel, Refused, Route};
use countersign_core::text::visible_line;
use countersign_doors::service::context::{Known, SETUP_SECONDS, needs_tree};
use countersign_doors::service::event;
use countersign_doors::service::hook;
use countersign_doors::service::hook::answer::{Say, Stands};
use countersign_doors::service::hook::input::Stopping;
use countersign_doors::service::hook::messages;
use countersign_doors::service::plan;
use countersign_doors::service::task::{Basis, Task, TaskStatus};
use countersign_doors::service::tasks::read_plan;
use countersign_engine::config::{ServiceConfig, Trigger};
use countersign_engine::engine::{
    Engine, EngineError, Planner, Prepared, SubmittedChange, Ticket, self_review_file,
};
use countersign_engine::ledger::Stored;
use countersign_engine::programs::Hook;
use countersign_engine::tested::{IN_WORK, TestRun};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub struct Judged {
    pub say: Say,
    engine: Option<Engine>,
    /// None where no reviewer was asked.
    ticket: Option<Ticket>,
    project: Project,
    told: Option<Notice>,
}

impl Judged {
    fn of(say: Say, engine: Option<Engine>, work: Work) -> Self {
        Self { say, engine, ticket: None, project: work.base.project, told: None }
    }

    pub async fn delivered(self) -> Result<(), Failure> {
        if let (Some(engine), Some(ticket)) = (&self.engine, &self.ticket) {
            engine.delivered(ticket).await?;
            if let Some(told) = &self.told {
                notify::tell(&self.project, engine.ledger(), told.clone()).await;
            }
        }
        self.close().await;
        Ok(())
    }

    pub async fn close(self) {
        if let Some(engine) = self.engine {
            engine.ledger().clone().close().await;
        }
    }
}

/// Judges; none where this project does not want it.
pub(super) async fn judge(
    hook: Hook,
    stopping: &Stopping,
    mut work: Work,
    note: Note,
    cancel: &CancellationToken,
) -> Result<Option<Judged>, Failure> {
    if let Some(why) = unwanted(&work.base.project) {
        note(&why);
        if !work.base.project.config.service.enabled
            && let Err(failure) = record_off(&work.base.project, &stopping.subject(hook)).await
        {
            note(&failure.message);
        }
        return Ok(None);
    }
    let project = &mut work.base.project;
    project.author = hook.program.vendor.or(project.author);
    hook::of_sessions(&mut project.config.policy);
    let planner = project.planner(None)?;
    let Some(prepared) = prepare(hook, stopping, &work, &planner, note, cancel).await? else {
        // No reviewer judges a change of the gate itself, so a person has to.
        let say = gate(&work).map(Say::Tell);
        return Ok(say.map(|say| Judged::of(say, None, work)));
    };
    let engine = work.base.project.engine(planner).await?;
    if let Some(failed) = written_to(&engine, stopping, &prepared).await? {
        // Work that failed is not judged again.
        let on_no_verdict = work.base.project.config.on_no_verdict;
        let (review, outcome) = (&failed.review, Outcome::NeedsWork);
        let say = Stands { review, outcome, on_no_verdict, self_review: None }.say();
        return Ok(Some(Judged::of(say, Some(engine), work)));
    }
    let ticket = match engine.submit(prepared).await {
        Err(EngineError::Refused(refused @ Refused::CoolingOff { .. })) => {
            let say = Say::Tell(format!("Countersign: the work was not reviewed: {refused}."));
            return Ok(Some(Judged::of(say, Some(engine), work)));
        }
        ticket => ticket?,
    };
    let stored = engine.wait(&ticket, cancel).await?;
    let say = concluded(&engine, &ticket, &stored, &work, note).await?;
    let told = told(hook, &work, &ticket, &stored, &say);
    Ok(Some(Judged { ticket: Some(ticket), told, ..Judged::of(say, Some(engine), work) }))
}

/// Records once for a session that its work is not reviewed.
async fn record_off(project: &Project, session: &Subject) -> Result<(), Failure> {
    let ledger = project.ledger().await?;
    let stream = format!("off/{session}");
    if ledger.notes(&stream).await?.is_empty() {
        let body = serde_json::json!({ "subject": session.as_str(), "reason": event::OFF }).to_string();
        let mut transaction = ledger.transaction().await?;
        transaction.note(&stream, 0, &[("review_skipped", body)], now().0).await?;
        transaction.commit().await?;
    }
    ledger.close().await;
    Ok(())
}

/// Why the configuration keeps the hook from reviewing.
pub fn unwanted(project: &Project) -> Option<String> {
    let service = &project.config.service;
    if !service.enabled {
        return Some("`review.enabled` is false: the hook reviews nothing".to_owned());
    }
    // Without a setting, the installed hook reviews.
    let other = project.config.trigger().filter(|trigger| *trigger != Trigger::SessionIdle);
    other.map(|trigger| {
        let trigger = trigger.word();
        format!("`review.trigger` is {trigger}: the hook reviews only under session_idle")
    })
}

/// The plan of the review; none where no rule matches the change.
async fn prepare(
    hook: Hook,
    stopping: &Stopping,
    work: &Work,
    planner: &Planner,
    note: Note,
    cancel: &CancellationToken,
) -> Result<Option<Prepared>, Failure> {
    let project = &work.base.project;
    let sections = sections(work, stopping, note, cancel).await?;
    let wanted = ReviewRequest {
        paths: vec![],
        change: Some(SubmittedChange::new(work.change.clone(), work.wanted.left_out.clone(), sections)),
        criteria: vec![],
        each_file: false,
        narrowed: Narrowed::default(),
        guidance: None,
        notes: None,
        subject: stopping.subject(hook),
        is_loop: true,
        fresh: false,
        words: Words {
            criteria: "a rule in countersign.yml",
            criteria_example: "rules in countersign.yml",
            paths: "what changed",
        },
    };
    let mut warnings = vec![];
    let prepared = match wanted.prepare(project, planner, &mut warnings).await {
        Err(failure) if failure.code == Code::NoRule => {
            note("no rule matches the changed files: nothing is judged");
            return Ok(None);
        }
        prepared => prepared?,
    };
    warnings.iter().for_each(|warning| note(warning));
    Ok(Some(prepared))
}

/// The context of the change: the task under way, the end of the session, and the output of test and lint commands that
/// the project names. A hook runs often, so no command is guessed.
async fn sections(
    work: &Work,
    stopping: &Stopping,
    note: Note,
    cancel: &CancellationToken,
) -> Result<Sections, Failure> {
    let project = &work.base.project;
    let mut settings: ServiceConfig = project.config.service.clone();
    settings.context.tests &= settings.test.is_some();
    settings.context.lint &= settings.lint.is_some();
    let runs = settings.context.tests || settings.context.lint;
    let tree = match needs_tree(&settings) && runs {
        true => Some(work.tree().await?),
        false => None,
    };
    if runs && tree.is_none() {
        note(&format!("`commands.tests_in` is worktree: {IN_WORK}"));
    }
    let log = stopping.transcript.as_ref().filter(|_| settings.context.session_log);
    let log = log.and_then(|path| session_log(path).map_err(|failure| note(&failure.message)).ok());
    let mut environment = project.surroundings().given();
    environment.push((OWN_CALL.into(), "hook".into()));
    let guard = project::guard_program()?;
    let checkout = project.checkout();
    let around = TestRun {
        guard: &guard,
        work: project.root.path(),
        settings: &checkout,
        environment: &environment,
        setup_timeout: Duration::from_secs(SETUP_SECONDS),
        cancel,
    };
    let known = Known::gather(&settings, log, &around, tree.as_deref()).await;
    let known = known.map_err(|error| match error.kind() {
        std::io::ErrorKind::Interrupted => Failure::interrupted(),
        _ => Failure::internal(format!("the project's commands could not be run: {error}")),
    })?;
    Ok(known.sections(task_under_way(project).await.as_ref(), &settings))
}

/// The task in progress; none where there are several, or where no person is known to have seen its words.
async fn task_under_way(project: &Project) -> Option<Task> {
    let reading = read_plan(&project.root.path().join(plan::FILE)).ok().flatten()?;
    let plan = reading.valid().ok()?;
    let tasks = known_plan(project, plan::FILE).await.tasks(plan::FILE, &plan);
    let mut under_way = tasks.into_iter().filter(|task| task.status == TaskStatus::InProgress);
    let task = under_way.next()?;
    (under_way.next().is_none() && task.basis != Basis::Unknown).then_some(task)
}

/// Records that the session got input, which may reopen the last review. Returns the review in which the same work
/// failed.
async fn written_to(
    engine: &Engine,
    stopping: &Stopping,
    prepared: &Prepared,
) -> Result<Option<Stored>, Failure> {
    if stopping.was_held {
        return Ok(None);
    }
    let (work, rules) = (&prepared.submission, &prepared.request.rules);
    let Some(latest) = engine.ledger().latest_for(&prepared.request.subject).await? else { return Ok(None) };
    if latest.review.has_failed(work, rules) {
        return Ok(Some(latest));
    }
    let session = format!("session {}", visible_line(&stopping.session));
    let by = Actor::new(session, ActorKind::Session, Channel::Session);
    engine.written_to(&latest.review.id, by, work, rules).await?;
    Ok(None)
}

/// The answer to the program. A pass is recorded.
async fn concluded(
    engine: &Engine,
    ticket: &Ticket,
    stored: &Stored,
    work: &Work,
    note: Note,
) -> Result<Say, Failure> {
    let outcome = ticket.outcome(stored);
    let review = &stored.review;
    let self_review = match outcome == Outcome::AwaitingPerson && review.waits_for_self_review() {
        true => {
            engine.renew_self_review(ticket).await?;
            Some(self_review_file(engine.ledger(), &ticket.review)?.display().to_string())
        }
        false => None,
    };
    let on_no_verdict = work.base.project.config.on_no_verdict;
    let say = Stands { review, outcome, on_no_verdict, self_review }.say();
    Ok(match (say, gate(work)) {
        (Say::Go, gate) => {
            if let Err(failure) = work.passed(review.id.as_str()).await {
                // It passed all the same; the next stop judges it again.
                note(&failure.message);
            }
            gate.map_or(Say::Go, Say::Tell)
        }
        (Say::Tell(words), Some(gate)) => Say::Tell(format!("{words} {gate}")),
        (say, _) => say,
    })
}

/// The notification about an end without a pass, unless an earlier stop sent it.
fn told(hook: Hook, work: &Work, ticket: &Ticket, stored: &Stored, say: &Say) -> Option<Notice> {
    let (Say::Tell(words), false) = (say, ticket.route == Route::Recorded) else { return None };
    let folder = work.base.project.root.path().file_name().unwrap_or_default().to_string_lossy();
    let (about, notification) = messages::notification(hook, &folder, ticket.outcome(stored), words)?;
    let (subject, review) = (stored.review.subject.to_string(), Some(stored.review.id.to_string()));
    Some(Notice { about, subject, review, notification })
}

fn gate(work: &Work) -> Option<String> {
    gate_words(&work.change).map(|words| format!("Countersign: {words}. Check it yourself."))
}
