//! The door itself: every tool of the dialect, on an engine and its ledger.
//!
//! A verdict and the advance that follows it are two transactions, because the process that performs a round
//! need not be the one that advances. The second is idempotent: whoever calls again after a crash finds the
//! verdict recorded and advances then, once.

mod judging;
mod sessions;

use super::answer::{self, Aborted, Finished, JobError, JobInfo, Started, WentTo, WorkflowInfo, Workflows};
use super::call::{FinishedCall, StartCall};
use super::hand_in::{self, MAX_NOTES_BYTES, MAX_TEXT_BYTES};
use super::instructions;
use super::job::{Job, Step};
use super::library::Library;
use super::session::{self, About, Frame, Gate, Happened, NotTaken, Outputs, Session};
use super::words;
use countersign_core::digest::Digest;
use countersign_core::ids::{ReviewId, Subject};
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::plan::PlanError;
use countersign_core::policy::{Attempts, DEFAULT_MAX_INLINE_FILES, Overrides, Policy};
use countersign_core::prompt::self_review_instructions;
use countersign_core::review::{Actor, ActorKind, Channel, Refused, Verb};
use countersign_engine::config::Config;
use countersign_engine::engine::{Engine, EngineError, Prepared, Request, SelfReviewResults, Ticket};
use countersign_engine::fresh::{self, now_ms};
use countersign_engine::ledger::{LedgerError, Stored};
use countersign_engine::workspace::Root;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// The agent that names no other.
const MAIN: &str = "main";
/// How many sessions are looked through for the one that is meant.
const MAX_SESSIONS: u32 = 200;
/// How many sessions that were begun here are kept in mind.
const MAX_BEGUN: usize = 20;
/// What reviews of this door are recorded under when an agent overrides them.
const AGENT: &str = "agent";

/// Who judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The reviewers of the engine's panel.
    ByReviewers,
    /// The author's own reviewer, by an instructions file.
    BySelf,
    /// Nobody: the gate is off.
    ByNobody,
}

/// How the door works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who judges.
    pub judged: Judged,
    /// When a step is blocked, and who may override.
    pub policy: Policy,
    /// Whether calls without a session mean the latest that was begun here: so for one client per process.
    pub one_client: bool,
}

/// The policy of steps: that of the project, but agents may override unless a file says otherwise, because this dialect
/// has always had that way out.
pub fn policy(config: &Config, max_attempts: Option<u32>) -> Policy {
    let attempts = max_attempts.map_or(config.policy.attempts, Attempts::AtMost);
    Policy { overrides: config.overrides().unwrap_or(Overrides::Allow), attempts, ..config.policy.clone() }
}

/// The jobs door, for one call or many.
#[derive(Clone)]
pub struct Jobs {
    engine: Engine,
    root: Root,
    options: Options,
    memory: Arc<Memory>,
}

/// What a door knows from one call to the next, and could find out again.
pub struct Memory {
    library: Library,
    /// Sessions that were begun here, the latest last.
    begun: Mutex<Vec<String>>,
}

impl Memory {
    /// Nothing but where jobs are.
    pub fn new(library: Library) -> Self {
        Self { library, begun: Mutex::default() }
    }

    /// What can be started.
    pub fn workflows(&self) -> Workflows {
        let listing = self.library.look();
        let workflow = |job: &Job, name: &str, summary: &str| WorkflowInfo {
            name: name.to_owned(),
            summary: summary.to_owned(),
            how_to_invoke: words::how_to_invoke(&job.name, name),
        };
        let job = |job: &Arc<Job>| JobInfo {
            name: job.name.clone(),
            summary: job.summary.clone(),
            workflows: job.workflows.iter().map(|one| workflow(job, &one.name, &one.summary)).collect(),
        };
        let error = |one: &super::library::Unreadable| JobError {
            job_name: one.job_name.clone(),
            job_dir: one.job_dir.display().to_string(),
            error: one.problems.to_string(),
        };
        Workflows {
            jobs: listing.jobs.iter().map(job).collect(),
            errors: listing.errors.iter().map(error).collect(),
        }
    }
}

/// Whoever waits for reviewers on behalf of a call: as long as its client is likely to, telling it how far they are.
pub trait Waiting: Send + Sync {
    /// Has the round of this ticket performed, and comes back with the review as it left it; with nothing where
    /// that takes longer than anybody wants to wait. The round goes on then: what was asked is paid for.
    fn wait<'a>(
        &'a self,
        engine: &'a Engine,
        ticket: &'a Ticket,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Stored>, Refusal>> + Send + 'a>>;
}

/// Why a call got no answer. The words are for the agent that called.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It cannot be taken as it is.
    #[error(transparent)]
    NotTaken(#[from] NotTaken),
    /// Nobody ruled.
    #[error("{0}")]
    NoVerdict(String),
    /// A person has to let it go on.
    #[error("{0}")]
    Blocked(String),
    /// The client does not wait any more.
    #[error("cancelled; what was judged is kept")]
    Cancelled,
    /// The engine could not do something.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        Self::Engine(error.into())
    }
}

/// An answer, and what is to be recorded once the client has it.
#[derive(Clone)]
pub struct Answered {
    /// The answer.
    pub answer: Finished,
    delivery: Option<Delivery>,
}

#[derive(Clone)]
struct Delivery {
    session_id: String,
    /// The step that passed, where one did.
    passed: Option<(u32, String)>,
    ticket: Option<Ticket>,
}

/// Whether a call could be about a session.
type Could<'a> = &'a (dyn Fn(&Session) -> bool + Sync);

/// An open step and everything that is handed in for it.
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
    /// A door on an engine.
    pub fn new(engine: Engine, root: Root, options: Options, memory: Arc<Memory>) -> Self {
        // The dialect has a bound of its own where no file names one (JOBS-2).
        let mut planner = engine.planner().clone();
        planner.bounds.max_inline_files.get_or_insert(DEFAULT_MAX_INLINE_FILES);
        Self { engine: engine.replanned(planner), root, options, memory }
    }

    /// Begins a workflow, on top of what the agent has under way.
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
        let (session, _) = self.record(&session_id, |_| Ok(vec![started.clone()])).await?;
        self.remember(&session_id);
        let frame = session.current(&agent)?;
        let begin_step = answer::begin(&session_id, frame, None);
        let begin_step = begin_step.ok_or_else(|| NotTaken("the workflow has no steps".to_owned()))?;
        Ok(Started {
            begin_step,
            stack: answer::stack(&session, &agent),
            important_note: match self.options.judged {
                Judged::ByNobody => words::NOTE_WITHOUT_GATE,
                _ => words::IMPORTANT_NOTE,
            }
            .to_owned(),
        })
    }

    /// A step that is blocked stays so until a person lifts it: in its session the workflow is not begun anew, which
    /// would give all tries back. Not for another name of the agent either.
    async fn refuse_blocked(&self, session_id: &str, job: &Job, workflow: &str) -> Result<(), Refusal> {
        let ledger = self.engine.ledger();
        let session = fold(&ledger.notes(&stream(session_id)).await?)?;
        let same = |frame: &&Frame| frame.job.name == job.name && frame.workflow.name == workflow;
        for frame in session.frames.iter().filter(same) {
            for step in frame.open_steps() {
                let stored = ledger.latest_for(&subject(session_id, frame.number, &step.id)).await?;
                let review = stored.map(|stored| stored.review);
                if let Some((review, Outcome::Stopped(why))) =
                    review.as_ref().and_then(|review| Some((review, review.standing()?)))
                    && why != Stop::Withdrawn
                {
                    return Err(Refusal::Blocked(words::blocked(review, step, why)));
                }
            }
        }
        Ok(())
    }

    /// Hands a step in; the next one begins once it has passed.
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
        let (number, step) = match session.about(&agent, named.as_deref(), &given, &arguments)? {
            About::Open { frame, step } => (frame, step),
            About::Again { frame, step } => return self.again(session_id, &session, frame, step),
        };
        let missing = || NotTaken(format!("step '{step}' is not part of the workflow any more"));
        let frame = session.frame(number).ok_or_else(missing)?;
        let found = frame.job.step(&step).ok_or_else(missing)?;
        let outputs = hand_in::check(found, &call.outputs, &self.root)?;
        let work = Work {
            session_id: &session_id,
            session: &session,
            frame,
            step: found,
            outputs,
            arguments,
            notes,
        };
        match self.options.judged {
            Judged::ByNobody => {
                self.advance(&work, Gate::Off, Some(words::NOT_JUDGED.to_owned()), None).await
            }
            _ if found.reviews.is_empty() => self.advance(&work, Gate::NoReviews, None, None).await,
            _ => self.judge(&work, call, waiting).await,
        }
    }

    /// The client has an answer: what it is told next time is something new.
    pub async fn delivered(&self, answered: &Answered) -> Result<(), Refusal> {
        let Some(Delivery { session_id, passed, ticket }) = &answered.delivery else { return Ok(()) };
        if let Some(ticket) = ticket {
            self.engine.delivered(ticket).await?;
        }
        if let Some((frame, step)) = passed {
            self.record(session_id, |session| {
                let open = session.frame(*frame).and_then(|frame| frame.done.get(step));
                let news = open.is_some_and(|done| !done.delivered);
                let event = Happened::AnswerDelivered { frame: *frame, step: step.clone() };
                Ok(if news { vec![event] } else { vec![] })
            })
            .await?;
        }
        Ok(())
    }

    /// Gives the workflow up; the one below goes on.
    pub async fn abort_workflow(
        &self,
        explanation: &str,
        session_id: Option<&str>,
        agent_id: Option<&str>,
    ) -> Result<Aborted, Refusal> {
        let agent = agent(agent_id)?;
        let explanation = self.engine.hide(&hand_in::words("explanation", explanation, MAX_TEXT_BYTES)?);
        let (session_id, before) = self.session(session_id, &|session| session.is_at_work(&agent)).await?;
        let (session, events) =
            self.record(&session_id, |session| Ok(vec![session.abort(&agent, &explanation)?])).await?;
        let aborted = events.first().and_then(|event| answer::aborted(&before, &session, event));
        Ok(aborted.ok_or_else(|| NotTaken("the workflow changed meanwhile: call again".to_owned()))?)
    }

    /// Goes back to a step; what rests on it is to be done again.
    pub async fn go_to_step(
        &self,
        step: &str,
        session_id: Option<&str>,
        agent_id: Option<&str>,
    ) -> Result<WentTo, Refusal> {
        let agent = agent(agent_id)?;
        let step = hand_in::step_id(step)?;
        let (session_id, _) = self.session(session_id, &|session| session.is_at_work(&agent)).await?;
        let (session, events) =
            self.record(&session_id, |session| Ok(vec![session.go_to(&agent, &step)?])).await?;
        let invalidated_steps = match events.into_iter().next() {
            Some(Happened::WentBack { invalidated, .. }) => invalidated,
            _ => vec![],
        };
        let begin_step = answer::begin(&session_id, session.current(&agent)?, Some(&step));
        let begin_step = begin_step.ok_or_else(|| NotTaken("the workflow changed meanwhile".to_owned()))?;
        Ok(WentTo { begin_step, invalidated_steps, stack: answer::stack(&session, &agent) })
    }
}

/// Where sessions are kept in the ledger.
pub(super) const STREAM: &str = "session/";

pub(super) fn stream(session_id: &str) -> String {
    format!("{STREAM}{session_id}")
}

pub(super) fn fold(notes: &[countersign_engine::ledger::Note]) -> Result<Session, Refusal> {
    let mut session = Session::default();
    for note in notes {
        let event = serde_json::from_str(&note.body).map_err(|error| {
            EngineError::Internal(format!(
                "a session has an event that cannot be read ({}): {error}",
                note.kind
            ))
        })?;
        session.apply(&event);
    }
    Ok(session)
}

/// What a step is in the ledger: the same over retries, and over going back.
pub(super) fn subject(session_id: &str, frame: u32, step: &str) -> Subject {
    Subject::new(super::DOOR, [session_id, &frame.to_string(), step])
}

fn agent(given: Option<&str>) -> Result<String, NotTaken> {
    given.map_or_else(|| Ok(MAIN.to_owned()), |given| hand_in::id("agent_id", given))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
