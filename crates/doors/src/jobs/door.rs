//! The tools of the jobs door, on an engine and its ledger. A verdict and the advance after it are two transactions, as
//! another process may perform the round. The second is idempotent: a call after a crash advances once.

mod judging;
mod sessions;

use super::answer::{self, Aborted, Finished, JobError, JobInfo, Started, WentTo, WorkflowInfo, Workflows};
use super::call::{FinishedCall, StartCall};
use super::feedback;
use super::guidance::Finder;
use super::hand_in::{self, MAX_NOTES_BYTES, MAX_TEXT_BYTES};
use super::instructions;
use super::job::{Job, Step, StepOutput, StepReview, Workflow};
use super::library::{Library, Unreadable};
use super::session::{self, About, Frame, Gate, Happened, NotTaken, Outputs, Session};
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::plan::PlanError;
use countersign_core::policy::{Attempts, DEFAULT_MAX_INLINE_FILES, Overrides, Policy};
use countersign_core::prompt::self_review_instructions;
use countersign_core::review::{Actor, ActorKind, Channel, Refused, Review};
use countersign_core::submission::Output;
use countersign_engine::config::Config;
use countersign_engine::engine::{Engine, EngineError, Prepared, Request, SelfReviewResults, Ticket};
use countersign_engine::fresh::{self, now_ms};
use countersign_engine::ledger::{LedgerError, Stored};
use countersign_engine::workspace::{self, Root};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// The agent of calls without an agent id.
const MAIN: &str = "main";
/// How many sessions are searched for the active one.
const MAX_SESSIONS: u32 = 200;
/// How many sessions of this process are remembered.
const MAX_BEGUN: usize = 20;
const AGENT: &str = "agent";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The reviewers of the panel.
    ByReviewers,
    /// A reviewer of the author, by an instructions file.
    BySelf,
    /// The gate is off.
    ByNobody,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub judged: Judged,
    pub policy: Policy,
    /// Whether the process has one client: then calls without a session mean its latest one.
    pub one_client: bool,
}

/// The policy of steps: that of the project, but agents may override unless the configuration forbids it.
pub fn policy(config: &Config, max_attempts: Option<u32>) -> Policy {
    let attempts = max_attempts.map_or(config.policy.attempts, Attempts::AtMost);
    Policy { overrides: config.overrides().unwrap_or(Overrides::Allow), attempts, ..config.policy.clone() }
}

#[derive(Clone)]
pub struct Jobs {
    engine: Engine,
    root: Root,
    options: Options,
    memory: Arc<Memory>,
}

/// The state of a process between calls. None of it is needed for correctness.
pub struct Memory {
    library: Library,
    /// Sessions that this process began, the latest last.
    begun: Mutex<Vec<String>>,
}

impl Memory {
    pub fn new(library: Library) -> Self {
        Self { library, begun: Mutex::default() }
    }

    pub fn workflows(&self) -> Workflows {
        let listing = self.library.look();
        let workflow = |job: &Job, workflow: &Workflow| WorkflowInfo {
            name: workflow.name.clone(),
            summary: workflow.summary.clone(),
            how_to_invoke: feedback::how_to_invoke(&job.name, workflow),
        };
        let job = |job: &Arc<Job>| JobInfo {
            name: job.name.clone(),
            summary: job.summary.clone(),
            workflows: job.workflows.iter().map(|one| workflow(job, one)).collect(),
        };
        let error = |one: Unreadable| JobError {
            error: feedback::unreadable(&one),
            job_dir: one.job_dir.display().to_string(),
            job_name: one.job_name,
        };
        let is_empty = listing.jobs.is_empty() && listing.errors.is_empty();
        Workflows {
            jobs: listing.jobs.iter().map(job).collect(),
            errors: listing.errors.into_iter().map(error).collect(),
            note: is_empty.then(|| feedback::no_jobs(&self.library)),
        }
    }
}

/// Waits for reviewers on behalf of a call, as long as its client does, and reports progress to it.
pub trait Waiting: Send + Sync {
    /// The review after this round; none where the client does not wait so long. The round goes on: it is paid for.
    fn wait<'a>(
        &'a self,
        engine: &'a Engine,
        ticket: &'a Ticket,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Stored>, Refusal>> + Send + 'a>>;
}

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    NotTaken(#[from] NotTaken),
    #[error("{0}")]
    NoVerdict(String),
    #[error("{0}")]
    Blocked(String),
    /// No reviewer is asked until then.
    #[error("{words}")]
    CoolingOff { words: String, until_ms: i64 },
    #[error("cancelled; finished rulings are kept")]
    Cancelled,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Refusal {
    fn not_taken(words: impl Into<String>) -> Self {
        NotTaken(words.into()).into()
    }
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        Self::Engine(error.into())
    }
}

/// An answer, and what is to be recorded once the client has it.
#[derive(Clone)]
pub struct Answered {
    pub answer: Finished,
    session_id: String,
    passed: Option<(u32, String)>,
    ticket: Option<Ticket>,
}

/// Whether a call can be about a session.
type Could<'a> = &'a (dyn Fn(&Session) -> bool + Sync);

struct Work<'a> {
    session_id: &'a str,
    session: &'a Session,
    frame: &'a Frame,
    step: &'a Step,
    outputs: Outputs,
    arguments: Digest,
    notes: Option<String>,
}

impl Jobs {
    pub fn new(engine: Engine, root: Root, options: Options, memory: Arc<Memory>) -> Self {
        // The dialect has its own default (JOBS-2).
        let mut planner = engine.planner().clone();
        planner.bounds.max_inline_files.get_or_insert(DEFAULT_MAX_INLINE_FILES);
        Self { engine: engine.replanned(planner), root, options, memory }
    }

    pub async fn start_workflow(&self, call: StartCall) -> Result<Started, Refusal> {
        let agent = agent(call.agent_id.as_deref())?;
        let goal = self.engine.hide(&hand_in::words("goal", &call.goal, MAX_TEXT_BYTES)?);
        let session_id = match call.session_id.as_deref() {
            Some(given) => hand_in::id("session_id", given)?,
            None => fresh::id().map_err(EngineError::from)?,
        };
        let (job, workflow) = self.find(&call.job_name, &call.workflow_name)?;
        self.refuse_blocked(&session_id, &job, &workflow).await?;
        let started = Happened::WorkflowStarted { agent: agent.clone(), goal, job, workflow };
        let (session, _) = self.record(&session_id, |_| Ok(Some(started.clone()))).await?;
        self.remember(&session_id);
        let frame = session.current(&agent)?;
        let begin_step = answer::begin(&session_id, frame, None);
        let begin_step = begin_step.ok_or_else(|| Refusal::not_taken("the workflow has no steps"))?;
        let note = match self.options.judged {
            Judged::ByNobody => feedback::NOTE_WITHOUT_GATE,
            _ => feedback::IMPORTANT_NOTE,
        };
        let stack = answer::stack(&session, &agent);
        Ok(Started { begin_step, stack, important_note: note.to_owned() })
    }

    /// Refuses to start a workflow anew while a step of it is blocked, for any agent id: that would give all attempts back.
    async fn refuse_blocked(&self, session_id: &str, job: &Job, workflow: &str) -> Result<(), Refusal> {
        let ledger = self.engine.ledger();
        let session = fold(&ledger.notes(&stream(session_id)).await?)?;
        let same = |frame: &&Frame| frame.job.name == job.name && frame.workflow.name == workflow;
        for frame in session.frames.iter().filter(same) {
            for step in frame.open_steps() {
                let stored = ledger.latest_for(&subject(session_id, frame.number, &step.id)).await?;
                refuse_stopped(stored.as_ref().map(|stored| &stored.review), step)?;
            }
        }
        Ok(())
    }

    pub async fn finished_step(
        &self,
        call: FinishedCall,
        waiting: &dyn Waiting,
    ) -> Result<Answered, Refusal> {
        let agent = agent(call.agent_id.as_deref())?;
        let notes = call.notes.as_deref().map(|notes| hand_in::text("notes", notes, MAX_NOTES_BYTES));
        let notes = notes.transpose()?.filter(|notes| !notes.trim().is_empty());
        let given = hand_in::outputs(&call.outputs)?;
        let arguments = session::arguments(&given, notes.as_deref());
        let meant = |session: &Session| session.is_at_work(&agent) || session.has_lost(&agent, &arguments);
        let (session_id, session) = self.session(call.session_id.as_deref(), &meant).await?;
        let named = call.step_id.as_deref().map(hand_in::step_id).transpose()?;
        let now = match session.may_repeat(&agent, &arguments) {
            true => Some(self.contents(&self.inside(&given)).await?),
            false => None,
        };
        let about = session.about(&agent, named.as_deref(), &given, (&arguments, now.as_ref()))?;
        if about.again {
            return self.again(session_id, &session, about);
        }
        let missing = || NotTaken(format!("step '{}' is not part of the workflow any more", about.step));
        let frame = session.frame(about.frame).ok_or_else(missing)?;
        let found = frame.job.step(&about.step).ok_or_else(missing)?;
        let outputs = hand_in::check(found, &call.outputs, &self.root, self.memory.library.base())?;
        let (step, session_id, session) = (found, session_id.as_str(), &session);
        let work = Work { session_id, session, frame, step, outputs, arguments, notes };
        let (gate, feedback) = match self.options.judged {
            Judged::ByNobody => (Gate::Off, Some(feedback::NOT_JUDGED.to_owned())),
            _ if found.reviews.is_empty() => (Gate::NoReviews, None),
            _ => return self.judge(&work, call, waiting).await,
        };
        let contents = self.contents(&work.outputs).await?;
        self.advance(&work, contents, gate, feedback, None).await
    }

    /// The paths of a call from the root, without those that lead elsewhere.
    fn inside(&self, given: &Outputs) -> Outputs {
        let base = self.memory.library.base();
        let inside = |path: &String| self.root.relative(base, Path::new(path)).ok();
        let files = |files: &Vec<String>| files.iter().filter_map(inside).collect();
        given.iter().map(|(name, given)| (name.clone(), files(given))).collect()
    }

    /// What files of the project hold now.
    async fn contents(&self, outputs: &Outputs) -> Result<Digest, Refusal> {
        let files = outputs.values().flatten().map(|path| (path.clone(), 0)).collect();
        let found = workspace::gather(&self.root, files).await;
        let failed = |error| EngineError::Io { what: "the outputs could not be read".to_owned(), error };
        Ok(session::contents(found.map_err(failed)?.iter()))
    }

    /// Records that the client has an answer: the same call later is a new one.
    pub async fn delivered(&self, answered: &Answered) -> Result<(), Refusal> {
        let Answered { session_id, passed, ticket, .. } = answered;
        if let Some(ticket) = ticket {
            self.engine.delivered(ticket).await?;
        }
        if let Some((frame, step)) = passed {
            self.record(session_id, |session| {
                let done = session.frame(*frame).and_then(|frame| frame.done.get(step));
                let event = Happened::AnswerDelivered { frame: *frame, step: step.clone() };
                Ok(done.filter(|done| !done.delivered).map(|_| event))
            })
            .await?;
        }
        Ok(())
    }

    /// Aborts the agent's workflow; the one below it on the stack goes on.
    pub async fn abort_workflow(
        &self,
        explanation: &str,
        session_id: Option<&str>,
        agent_id: Option<&str>,
    ) -> Result<Aborted, Refusal> {
        let agent = agent(agent_id)?;
        let explanation = self.engine.hide(&hand_in::words("explanation", explanation, MAX_TEXT_BYTES)?);
        let (session_id, before) = self.session(session_id, &|session| session.is_at_work(&agent)).await?;
        let (session, event) =
            self.record(&session_id, |session| session.abort(&agent, &explanation).map(Some)).await?;
        let aborted = event.and_then(|event| answer::aborted(&before, &session, &event));
        aborted.ok_or_else(|| Refusal::not_taken("the workflow changed meanwhile: call again"))
    }

    pub async fn go_to_step(
        &self,
        step: &str,
        session_id: Option<&str>,
        agent_id: Option<&str>,
    ) -> Result<WentTo, Refusal> {
        let agent = agent(agent_id)?;
        let step = hand_in::step_id(step)?;
        let (session_id, _) = self.session(session_id, &|session| session.is_at_work(&agent)).await?;
        let (session, event) =
            self.record(&session_id, |session| session.go_to(&agent, &step).map(Some)).await?;
        let invalidated_steps = match event {
            Some(Happened::WentBack { invalidated, .. }) => invalidated,
            _ => vec![],
        };
        let begin_step = answer::begin(&session_id, session.current(&agent)?, Some(&step));
        let begin_step = begin_step.ok_or_else(|| Refusal::not_taken("the workflow changed meanwhile"))?;
        Ok(WentTo { begin_step, invalidated_steps, stack: answer::stack(&session, &agent) })
    }
}

pub(super) const STREAM: &str = "session/";

pub(super) fn stream(session_id: &str) -> String {
    format!("{STREAM}{session_id}")
}

pub(super) fn fold(notes: &[countersign_engine::ledger::Note]) -> Result<Session, Refusal> {
    let mut session = Session::default();
    for note in notes {
        let event = serde_json::from_str(&note.body).map_err(|error| {
            let words = "a session has an event that cannot be read";
            EngineError::Internal(format!("{words} ({}): {error}", note.kind))
        })?;
        session.apply(&event);
    }
    Ok(session)
}

/// The subject of a step: the same over retries, and over going back.
pub(super) fn subject(session_id: &str, frame: u32, step: &str) -> Subject {
    Subject::new(super::DOOR, [session_id, &frame.to_string(), step])
}

fn refuse_stopped(review: Option<&Review>, step: &Step) -> Result<(), Refusal> {
    match review.and_then(|review| Some((review, review.standing()?))) {
        Some((review, Outcome::Stopped(why))) if why != Stop::Withdrawn => {
            Err(Refusal::Blocked(feedback::blocked(review, step, why)))
        }
        _ => Ok(()),
    }
}

fn agent(given: Option<&str>) -> Result<String, NotTaken> {
    given.map_or_else(|| Ok(MAIN.to_owned()), |given| hand_in::id("agent_id", given))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
