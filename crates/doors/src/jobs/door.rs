//! The door itself: every tool of the dialect, on an engine and its ledger.
//!
//! A verdict and the advance that follows it are two transactions, because the process that performs a round
//! need not be the one that advances. The second is idempotent: whoever calls again after a crash finds the
//! verdict recorded and advances then, once.

use super::answer::{self, Aborted, Finished, JobError, JobInfo, Started, WentTo, WorkflowInfo, Workflows};
use super::hand_in::{self, MAX_NOTES_BYTES, MAX_TEXT_BYTES};
use super::instructions;
use super::job::{Job, Step};
use super::library::Library;
use super::session::{self, About, Frame, Gate, Happened, NotTaken, Outputs, Session};
use super::words;
use countersign_core::digest::Digest;
use countersign_core::ids::{ID_LETTERS, ReviewId, Subject, letters};
use countersign_core::outcome::{Outcome, Stop};
use countersign_core::plan::PlanError;
use countersign_core::policy::{Overrides, Policy};
use countersign_core::prompt::self_review_instructions;
use countersign_core::review::{Actor, Refused, Verb};
use countersign_engine::engine::{Engine, EngineError, Prepared, Request, SelfReviewResults, Ticket};
use countersign_engine::ledger::{LedgerError, Stored};
use countersign_engine::workspace::Root;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

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

impl Refusal {
    /// A short stable word.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotTaken(_) => "not_taken",
            Self::NoVerdict(_) => "no_verdict",
            Self::Blocked(_) => "blocked",
            Self::Cancelled => "cancelled",
            Self::Engine(error) => match error.outcome() {
                Outcome::Usage => "not_taken",
                Outcome::NoVerdict(_) => "no_verdict",
                Outcome::Integrity => "integrity",
                _ => "internal",
            },
        }
    }
}

/// A call of `start_workflow`.
#[derive(Clone, Debug, Default)]
pub struct StartCall {
    /// What is to be reached.
    pub goal: String,
    /// The job.
    pub job_name: String,
    /// The workflow.
    pub workflow_name: String,
    /// The session; a new one without it.
    pub session_id: Option<String>,
    /// The sub-agent whose stack this is for.
    pub agent_id: Option<String>,
}

/// A call of `finished_step`.
#[derive(Clone, Debug, Default)]
pub struct FinishedCall {
    /// What is handed in, by output.
    pub outputs: Map<String, Value>,
    /// The session.
    pub session_id: Option<String>,
    /// The step, where several are open.
    pub step_id: Option<String>,
    /// What the author says about the work.
    pub notes: Option<String>,
    /// Why it should pass whatever the review says.
    pub quality_review_override_reason: Option<String>,
    /// The results of a self-review.
    pub self_review: Option<SelfReviewResults>,
    /// The sub-agent whose stack this is for.
    pub agent_id: Option<String>,
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
        Self { engine, root, options, memory }
    }

    /// Begins a workflow, on top of what the agent has under way.
    pub async fn start_workflow(&self, call: StartCall) -> Result<Started, Refusal> {
        let agent = agent(call.agent_id.as_deref())?;
        let goal = self.engine.hide(&hand_in::words("goal", &call.goal, MAX_TEXT_BYTES)?);
        let session_id = match call.session_id.as_deref() {
            Some(given) => hand_in::id("session_id", given)?,
            None => new_id()?,
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

    async fn judge(
        &self,
        work: &Work<'_>,
        call: FinishedCall,
        waiting: &dyn Waiting,
    ) -> Result<Answered, Refusal> {
        let prepared = match self.engine.planner().prepare(self.request(work)).await {
            Ok(prepared) => prepared,
            // Every review is for an output that is optional and was not handed in.
            Err(EngineError::Plan(PlanError::NothingToJudge)) => {
                let names: Vec<_> =
                    work.step.reviews.iter().map(|one| one.run_each.text().to_owned()).collect();
                let feedback = words::not_applicable(&names);
                return self.advance(work, Gate::NotApplicable(names), feedback, None).await;
            }
            Err(error) => return Err(error.into()),
        };
        let not_applicable = self.not_applicable(work, &prepared);
        let reason = call.quality_review_override_reason.as_deref();
        let reason =
            reason.map(|reason| hand_in::words("quality_review_override_reason", reason, MAX_TEXT_BYTES));
        let ticket = match (call.self_review, reason.transpose()?) {
            (Some(results), _) => self.self_reviewed(work.step, prepared, results).await?,
            (None, Some(reason)) => return self.overridden(work, prepared, reason, not_applicable).await,
            (None, None) => self.engine.submit(prepared).await?,
        };
        match waiting.wait(&self.engine, &ticket).await? {
            Some(stored) => self.conclude(work, ticket, &stored, not_applicable).await,
            None => Ok(self.still_running(work)),
        }
    }

    /// The end of a round, in the words of this door.
    async fn conclude(
        &self,
        work: &Work<'_>,
        ticket: Ticket,
        stored: &Stored,
        not_applicable: Vec<String>,
    ) -> Result<Answered, Refusal> {
        let review = &stored.review;
        match ticket.outcome(stored) {
            Outcome::Passed | Outcome::Overridden | Outcome::Skipped => {
                let feedback = words::passed(review, &not_applicable);
                let gate = Gate::Review { review: review.id.clone(), not_applicable };
                self.advance(work, gate, feedback, Some(ticket)).await
            }
            Outcome::NeedsWork => {
                let round = review.round();
                let failed = round.map(|round| answer::failed_reviews(review, round, work.step));
                let feedback = words::needs_work(review, work.step, &not_applicable);
                Ok(self.needs_work(work, feedback, failed.unwrap_or_default(), Some(ticket)))
            }
            Outcome::AwaitingPerson => {
                let file = self.write_instructions(work, stored).await?;
                let feedback = words::self_review(&file.display().to_string());
                Ok(self.needs_work(work, feedback, vec![], None))
            }
            Outcome::Stopped(Stop::Withdrawn) => {
                Err(Refusal::NoVerdict("the review was withdrawn meanwhile: call again".to_owned()))
            }
            Outcome::BudgetReached => Err(Refusal::NoVerdict(words::budget_reached(review, work.step))),
            Outcome::Stopped(why) => Err(Refusal::Blocked(words::blocked(review, work.step, why))),
            _ => Err(Refusal::NoVerdict(words::no_verdict(review, work.step))),
        }
    }

    async fn self_reviewed(
        &self,
        step: &Step,
        prepared: Prepared,
        results: SelfReviewResults,
    ) -> Result<Ticket, Refusal> {
        let latest = self.engine.ledger().latest_for(&prepared.request.subject).await?;
        let Some(latest) = latest else {
            return Err(NotTaken(
                "no self-review was asked for yet: call finished_step without self_review first".to_owned(),
            )
            .into());
        };
        match self.engine.self_reviewed_as(&latest.review.id, prepared, results).await {
            Err(EngineError::Refused(Refused::WrongToken)) => {
                Err(NotTaken(words::WRONG_TOKEN.to_owned()).into())
            }
            Err(EngineError::Refused(Refused::Settled(Outcome::Stopped(why)))) if why != Stop::Withdrawn => {
                Err(Refusal::Blocked(words::blocked(&latest.review, step, why)))
            }
            Err(EngineError::Refused(Refused::Settled(_) | Refused::NotNow(_))) => {
                Err(NotTaken(words::TOKEN_IS_USED.to_owned()).into())
            }
            taken => Ok(taken?),
        }
    }

    /// An agent lets its own work pass: recorded as such, where the policy allows it at all.
    async fn overridden(
        &self,
        work: &Work<'_>,
        prepared: Prepared,
        reason: String,
        not_applicable: Vec<String>,
    ) -> Result<Answered, Refusal> {
        let latest = self.engine.ledger().latest_for(&prepared.request.subject).await?;
        let latest = latest.as_ref().map(|stored| &stored.review);
        if let Some((review, Outcome::Stopped(why))) =
            latest.and_then(|review| Some((review, review.standing()?)))
            && why != Stop::Withdrawn
        {
            return Err(Refusal::Blocked(words::blocked(review, work.step, why)));
        }
        let open = latest.filter(|review| !matches!(review.standing(), Some(Outcome::Stopped(_))));
        let policy = open.map_or(&self.options.policy, |review| &review.policy);
        if policy.overrides != Overrides::Allow {
            return Err(NotTaken(words::OVERRIDES_NOT_ALLOWED.to_owned()).into());
        }
        let ticket = self.engine.submit(prepared).await?;
        let by = Actor::new(AGENT, false);
        match self.engine.decide(&ticket.review, Verb::Approve, by, reason).await {
            // What has passed needs nobody to override it.
            Ok(_)
            | Err(EngineError::Refused(Refused::Settled(
                Outcome::Passed | Outcome::Overridden | Outcome::Skipped,
            ))) => {}
            Err(error) => return Err(error.into()),
        }
        let gate = Gate::Review { review: ticket.review.clone(), not_applicable };
        self.advance(work, gate, Some(words::OVERRIDDEN.to_owned()), Some(ticket)).await
    }

    /// Records that a step has passed, unless somebody did so already, and says what follows.
    async fn advance(
        &self,
        work: &Work<'_>,
        gate: Gate,
        feedback: Option<String>,
        ticket: Option<Ticket>,
    ) -> Result<Answered, Refusal> {
        let (number, step) = (work.frame.number, work.step.id.as_str());
        let (session, _) = self
            .record(work.session_id, |session| {
                let (outputs, arguments) = (work.outputs.clone(), work.arguments.clone());
                Ok(session.finish(number, step, outputs, arguments, gate.clone()).into_iter().collect())
            })
            .await?;
        let frame = session.frame(number).ok_or_else(|| NotTaken("the workflow is gone".to_owned()))?;
        if frame.aborted.is_some() || !frame.done.contains_key(step) {
            return Err(NotTaken(
                "the workflow was changed meanwhile: look where it is with go_to_step".to_owned(),
            )
            .into());
        }
        let answer = answer::after(work.session_id, &session, frame, feedback);
        let passed = Some((number, step.to_owned()));
        let delivery = Delivery { session_id: work.session_id.to_owned(), passed, ticket };
        Ok(Answered { answer, delivery: Some(delivery) })
    }

    /// The recorded answer to a step that has passed.
    fn again(
        &self,
        session_id: String,
        session: &Session,
        frame: u32,
        step: String,
    ) -> Result<Answered, Refusal> {
        let found = session.frame(frame).ok_or_else(|| NotTaken("the workflow is gone".to_owned()))?;
        let answer = answer::after(&session_id, session, found, Some(words::again(&step)));
        let delivery = Delivery { session_id, passed: Some((frame, step)), ticket: None };
        Ok(Answered { answer, delivery: Some(delivery) })
    }

    fn needs_work(
        &self,
        work: &Work<'_>,
        feedback: String,
        failed: Vec<answer::FailedReview>,
        ticket: Option<Ticket>,
    ) -> Answered {
        let stack = answer::stack(work.session, &work.frame.agent);
        let answer = Finished {
            status: "needs_work",
            feedback: Some(feedback),
            failed_reviews: Some(failed),
            stack,
            ..Finished::default()
        };
        let delivery = Delivery { session_id: work.session_id.to_owned(), passed: None, ticket };
        Answered { answer, delivery: Some(delivery) }
    }

    fn still_running(&self, work: &Work<'_>) -> Answered {
        let answered = self.needs_work(work, words::RUNNING.to_owned(), vec![], None);
        Answered { delivery: None, ..answered }
    }

    fn request(&self, work: &Work<'_>) -> Request {
        let names: Vec<_> = work.step.outputs.iter().map(|output| output.name.as_str()).collect();
        let index = |name: &str| names.iter().position(|known| *known == name).unwrap_or_default();
        let files = work.outputs.iter().flat_map(|(name, files)| {
            let output = index(name);
            files.iter().map(move |file| (file.clone(), output))
        });
        Request {
            subject: subject(work.session_id, work.frame.number, &work.step.id),
            rules: work.step.rules(),
            policy: self.options.policy.clone(),
            outputs: work.step.engine_outputs(),
            files: files.collect(),
            notes: work.notes.clone(),
            fresh: false,
        }
    }

    /// The reviews of a step that have nothing to look at, by what they are for.
    fn not_applicable(&self, work: &Work<'_>, prepared: &Prepared) -> Vec<String> {
        let rules = work.step.rules().into_iter().zip(&work.step.reviews);
        let absent = rules.filter(|(rule, _)| prepared.plan.not_applicable.contains(&rule.name));
        absent.map(|(_, review)| review.run_each.text().to_owned()).collect()
    }

    /// Writes the instructions of a self-review where agents look for them.
    async fn write_instructions(&self, work: &Work<'_>, stored: &Stored) -> Result<PathBuf, Refusal> {
        let document = self.engine.self_review_document(&stored.review, work.notes.as_deref());
        let (mut document, token) =
            document.ok_or_else(|| NotTaken("no self-review is waited for".to_owned()))?;
        document.handing_in = Some(words::handing_in(&stored.review, &token));
        let text = self_review_instructions(&document);
        let failed = |error| EngineError::Io {
            what: format!("could not write the instructions of step '{}'", work.step.id),
            error,
        };
        let folder = instructions::folder(&self.root).map_err(failed)?;
        let (session, step, review) = (work.session_id, &work.step.id, &stored.review.id);
        let mut path = folder.join(instructions::name(session, step));
        if self.is_still_read(&path, work, review).await? {
            path = folder.join(instructions::other_name(session, step, review));
        }
        instructions::write(&path, &text, review).map_err(failed)?;
        Ok(path)
    }

    /// Whether the instructions at a place are for somebody else who is to read them yet.
    async fn is_still_read(&self, path: &Path, work: &Work<'_>, own: &ReviewId) -> Result<bool, Refusal> {
        let Some(other) = instructions::review_at(path).filter(|other| other != own) else {
            return Ok(false);
        };
        let Some(other) = self.engine.ledger().review(&other).await? else { return Ok(false) };
        let over = |frame: &Frame| {
            !frame.is_active()
                && subject(work.session_id, frame.number, &work.step.id) == other.review.subject
        };
        Ok(other.review.waits_for_self_review() && !work.session.frames.iter().any(over))
    }

    fn find(&self, job_name: &str, workflow_name: &str) -> Result<(Box<Job>, String), Refusal> {
        let listing = self.memory.library.look();
        let Some(job) = listing.jobs.iter().find(|job| job.name == job_name) else {
            let broken = listing.errors.iter().find(|error| error.job_name == job_name);
            let shown =
                countersign_core::text::visible_line(countersign_core::text::cut(job_name, 200)).into_owned();
            let words = match broken {
                Some(broken) => format!("job '{shown}' cannot be read:\n{}", broken.problems),
                None => {
                    let known: Vec<_> = listing.jobs.iter().map(|job| job.name.as_str()).collect();
                    format!("there is no job '{shown}'; jobs: {}", listed(&known))
                }
            };
            return Err(NotTaken(words).into());
        };
        let named = job.workflows.iter().find(|workflow| workflow.name == workflow_name);
        let workflow = match (named, job.workflows.as_slice()) {
            (Some(workflow), _) | (None, [workflow]) => workflow.name.clone(),
            (None, several) => {
                let known: Vec<_> = several.iter().map(|workflow| workflow.name.as_str()).collect();
                let words =
                    format!("job '{job_name}' has no such workflow; its workflows: {}", listed(&known));
                return Err(NotTaken(words).into());
            }
        };
        Ok((Box::new((**job).clone()), workflow))
    }

    /// The session that is meant, and its state. Without a name it is the latest that `could` be.
    async fn session(&self, given: Option<&str>, could: Could<'_>) -> Result<(String, Session), Refusal> {
        let id = match given {
            Some(given) => hand_in::id("session_id", given)?,
            None => self.meant(could).await?,
        };
        let session = fold(&self.engine.ledger().notes(&stream(&id)).await?)?;
        if session.n == 0 {
            return Err(NotTaken(format!("there is no session '{id}': call start_workflow first")).into());
        }
        Ok((id, session))
    }

    async fn meant(&self, could: Could<'_>) -> Result<String, Refusal> {
        let begun = if self.options.one_client { self.begun().clone() } else { vec![] };
        for id in begun.iter().rev() {
            if could(&fold(&self.engine.ledger().notes(&stream(id)).await?)?) {
                return Ok(id.clone());
            }
        }
        if let Some(latest) = begun.last() {
            return Ok(latest.clone());
        }
        let ledger = self.engine.ledger();
        let mut active = vec![];
        for stream in ledger.streams(STREAM, MAX_SESSIONS).await? {
            if fold(&ledger.notes(&stream).await?)?.is_active() {
                active.push(stream[STREAM.len()..].to_owned());
            }
        }
        match active.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(NotTaken("no workflow is under way: call start_workflow first".to_owned()).into()),
            several => {
                let several: Vec<_> = several.iter().map(String::as_str).collect();
                Err(NotTaken(format!(
                    "several sessions are under way: name one with session_id ({})",
                    listed(&several)
                ))
                .into())
            }
        }
    }

    /// Appends what `decide` makes of the session as it is now. Nobody else can write in between.
    async fn record(
        &self,
        session_id: &str,
        decide: impl Fn(&Session) -> Result<Vec<Happened>, NotTaken>,
    ) -> Result<(Session, Vec<Happened>), Refusal> {
        let stream = stream(session_id);
        let mut transaction = self.engine.ledger().transaction().await?;
        let mut session = fold(&transaction.notes(&stream).await?)?;
        let events = decide(&session)?;
        if events.is_empty() {
            return Ok((session, events));
        }
        let body = |event: &Happened| Ok((event.kind(), serde_json::to_string(event)?));
        let notes: Result<Vec<_>, serde_json::Error> = events.iter().map(body).collect();
        let notes = notes.map_err(|error| EngineError::Internal(error.to_string()))?;
        transaction.note(&stream, session.n, &notes, now_ms()).await?;
        transaction.commit().await?;
        events.iter().for_each(|event| session.apply(event));
        Ok((session, events))
    }

    fn remember(&self, session_id: &str) {
        let mut begun = self.begun();
        begun.retain(|known| known != session_id);
        begun.push(session_id.to_owned());
        let before = begun.len().saturating_sub(MAX_BEGUN);
        begun.drain(..before);
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.memory.begun.lock().unwrap_or_else(PoisonError::into_inner)
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
    Subject::new("jobs", [session_id, &frame.to_string(), step])
}

fn agent(given: Option<&str>) -> Result<String, NotTaken> {
    given.map_or_else(|| Ok(MAIN.to_owned()), |given| hand_in::id("agent_id", given))
}

fn new_id() -> Result<String, Refusal> {
    let mut bytes = [0; ID_LETTERS];
    getrandom::fill(&mut bytes)
        .map_err(|error| EngineError::Internal(format!("no random numbers: {error}")))?;
    Ok(letters(bytes))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
