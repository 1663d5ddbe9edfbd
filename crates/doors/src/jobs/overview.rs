//! What people see of workflows: which are under way, where they stand, what they wait for.

use super::door::{Refusal, STREAM, fold, stream, subject};
use super::session::{Frame, Session};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{Outcome, Stop};
use countersign_engine::ledger::Ledger;

/// A workflow that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderWay {
    /// Its session.
    pub session_id: String,
    /// Whose it is.
    pub agent: String,
    /// `job/workflow`.
    pub workflow: String,
    /// What is to be reached.
    pub goal: String,
    /// How many of its steps are done.
    pub steps_done: usize,
    /// How many it has.
    pub steps: usize,
    /// The steps that can be handed in now.
    pub open: Vec<OpenStep>,
    /// Steps that were finished while the gate was off.
    pub not_judged: Vec<String>,
    /// When something last happened in its session.
    pub changed_ms: i64,
}

/// A step that can be handed in now.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenStep {
    /// The step.
    pub step_id: String,
    /// Its latest review, once it was handed in.
    pub review: Option<ReviewId>,
    /// How often that failed.
    pub attempts: u32,
    /// How that stands.
    pub standing: Option<Outcome>,
    /// Whether the author was asked for a review of its own.
    pub self_review: bool,
}

impl OpenStep {
    /// Whether nobody is asked about it until a person lets it go on.
    pub fn is_blocked(&self) -> bool {
        matches!(self.standing, Some(Outcome::Stopped(why)) if why != Stop::Withdrawn)
    }
}

/// The workflows under way in as many sessions, those that changed last first.
pub async fn under_way(ledger: &Ledger, sessions: u32) -> Result<Vec<UnderWay>, Refusal> {
    let mut all = vec![];
    for stream in ledger.streams(STREAM, sessions).await? {
        let notes = ledger.notes(&stream).await?;
        let session = fold(&notes)?;
        let changed_ms = notes.last().map_or(0, |note| note.at_ms);
        for frame in session.frames.iter().filter(|frame| frame.is_active()) {
            all.push(one(ledger, &stream[STREAM.len()..], frame, changed_ms).await?);
        }
    }
    Ok(all)
}

async fn one(ledger: &Ledger, session_id: &str, frame: &Frame, changed_ms: i64) -> Result<UnderWay, Refusal> {
    let mut open = vec![];
    for step in frame.open_steps() {
        let review = ledger.latest_for(&subject(session_id, frame.number, &step.id)).await?;
        let review = review.map(|stored| stored.review);
        open.push(OpenStep {
            step_id: step.id.clone(),
            attempts: review.as_ref().map_or(0, |review| review.attempts),
            standing: review.as_ref().and_then(|review| review.standing()),
            self_review: review.as_ref().is_some_and(|review| review.waits_for_self_review()),
            review: review.map(|review| review.id),
        });
    }
    Ok(UnderWay {
        session_id: session_id.to_owned(),
        agent: frame.agent.clone(),
        workflow: frame.title(),
        goal: frame.goal.clone(),
        steps_done: frame.done.len(),
        steps: frame.workflow.entries.iter().map(Vec::len).sum(),
        open,
        not_judged: frame.not_judged().into_iter().map(str::to_owned).collect(),
        changed_ms,
    })
}

/// The review that people mean by `SESSION/STEP`: that of the latest workflow in which the step was handed in.
pub async fn review_named(ledger: &Ledger, name: &str) -> Result<Option<ReviewId>, Refusal> {
    let Some((session_id, step)) = name.split_once('/') else { return Ok(None) };
    let session: Session = fold(&ledger.notes(&stream(session_id)).await?)?;
    for frame in session.frames.iter().rev() {
        if let Some(stored) = ledger.latest_for(&subject(session_id, frame.number, step)).await? {
            return Ok(Some(stored.review.id));
        }
    }
    Ok(None)
}
