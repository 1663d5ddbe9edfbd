//! The active workflows of all sessions, for people: their open steps and the reviews of these.

use super::door::{Refusal, STREAM, fold, stream, subject};
use super::session::{Frame, Session};
use countersign_core::ids::ReviewId;
use countersign_core::outcome::{Outcome, Stop};
use countersign_engine::ledger::Ledger;

#[derive(Clone, Debug, PartialEq)]
pub struct UnderWay {
    pub session_id: String,
    pub agent: String,
    /// `job/workflow`.
    pub workflow: String,
    pub goal: String,
    pub steps_done: usize,
    pub steps: usize,
    pub open: Vec<OpenStep>,
    pub not_judged: Vec<String>,
    /// The time of the last event of its session.
    pub changed_ms: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OpenStep {
    pub step_id: String,
    pub review: Option<ReviewId>,
    /// How often the review failed.
    pub attempts: u32,
    pub standing: Option<Outcome>,
    pub self_review: bool,
}

impl OpenStep {
    pub fn is_blocked(&self) -> bool {
        matches!(self.standing, Some(Outcome::Stopped(why)) if why != Stop::Withdrawn)
    }
}

/// The active workflows of so many sessions, the one that changed last first.
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

/// The review named `SESSION/STEP`: of the latest workflow in which the step has one.
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
