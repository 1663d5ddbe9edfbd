//! The commands that only read, and `init`. Their answers come from the state file; facts of the ledger are warnings.

use super::{Answered, QrContext};
use crate::Failure;
use crate::answer::v1::qr::{ByWord, Execute, ExecuteFailed, FailedItem, Init, Phase, Status};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition;
use countersign_doors::qr::{Here, Loaded, OnRecord, Phase as Selection, State, texts};

pub async fn init(context: &QrContext) -> Result<Answered<Init>, Failure> {
    let created = context.dir.create()?;
    let here = context.here(Selection::PlanStructure).await;
    let state_dir = context.dir.path().display().to_string();
    let answer = Init { state_dir, created, next: here.command("execute") };
    Ok(Answered::new(Outcome::Passed, texts::initialised(&here, created), answer))
}

pub async fn execute(context: &QrContext) -> Result<Answered<Execute>, Failure> {
    let phase = context.phase()?;
    let here = context.here(phase).await;
    let answer = Execute { phase: phase.name(), task: texts::task(phase), next: here.execute() };
    Ok(Answered::new(Outcome::Passed, texts::execute(&here), answer))
}

/// `qr execute --qr-fail`: the blocking failures of a phase.
pub async fn execute_failed(context: &QrContext) -> Result<Answered<ExecuteFailed>, Failure> {
    let phase = context.phase()?;
    let (here, policy) = (context.here(phase).await, context.policy());
    let state = context.dir.require(phase)?.state;
    let failures = FailedItem::all(&state, policy, texts::fix_of);
    let answer = ExecuteFailed { phase: Phase::new(&state, policy, &here), failures };
    Ok(Answered::new(Outcome::Passed, texts::execute_failed(&state, policy, &here), answer))
}

/// `qr gate`: pass or fail, from the state file, as far as the ledger does not contradict it.
pub async fn gate(context: &QrContext) -> Result<Answered<Phase>, Failure> {
    let phase = context.phase()?;
    let (here, policy) = (context.here(phase).await, context.policy());
    let Some(found) = context.dir.read(phase)? else { return Ok(nothing(context, &here)) };
    let held = held(context, &found).await;
    let outcome = held.outcome(transition::gate(&held.state, policy).end.outcome());
    let text = texts::gate_answer(&held.state, policy, &here, &held.contradictions);
    let answer = Phase::new(&held.state, policy, &here).contradicted(&held.contradictions, &here);
    Ok(Answered::new(outcome, text, answer).warn(held.doubts))
}

/// The gate without a state file: no items are no pass.
fn nothing(context: &QrContext, here: &Here) -> Answered<Phase> {
    let (state, policy) = (State::new(here.phase, vec![]), context.policy());
    let is_dir = context.dir.path().is_dir();
    let next = if is_dir { here.decompose() } else { here.init() };
    let outcome = transition::gate(&state, policy).end.outcome();
    let text = texts::gate_without_file(here, is_dir, &next);
    Answered::new(outcome, text, Phase { next, ..Phase::new(&state, policy, here) })
}

pub async fn status(context: &QrContext) -> Result<Answered<Status>, Failure> {
    let phase = context.phase()?;
    let (here, policy) = (context.here(phase).await, context.policy());
    let found = context.dir.require(phase)?;
    let Held { on, state, contradictions, doubts } = held(context, &found).await;
    let by_word = on.by_word(&state);
    let text = texts::overview(&state, policy, &here, (&by_word, &contradictions));
    let by_word = by_word.into_iter().map(|(id, by)| ByWord { id: id.to_owned(), by }).collect();
    let phase = Phase::new(&state, policy, &here).contradicted(&contradictions, &here);
    Ok(Answered::new(Outcome::Passed, text, Status { phase, by_word }).warn(doubts))
}

/// A state held against the ledger.
pub(super) struct Held {
    on: OnRecord,
    /// As far as the ledger does not contradict it.
    pub state: State,
    pub contradictions: Vec<String>,
    pub doubts: Vec<String>,
}

impl Held {
    /// The outcome, which is no pass where the ledger contradicts the file.
    pub fn outcome(&self, of_file: Outcome) -> Outcome {
        match of_file {
            Outcome::Passed if !self.contradictions.is_empty() => Outcome::AwaitingPerson,
            other => other,
        }
    }
}

/// Holds a state against the ledger. Reading never creates a ledger.
pub(super) async fn held(context: &QrContext, found: &Loaded) -> Held {
    let (state, on_record) = match held_against_ledger(context, found).await {
        Ok(held) => held,
        Err(failure) => {
            let words = vec![format!("the ledger cannot be read: {}", failure.message)];
            let state = OnRecord::default().corrected(&found.state);
            return Held { on: OnRecord::default(), state, contradictions: words.clone(), doubts: words };
        }
    };
    let (on, doubts) = on_record;
    Held { state: on.corrected(&state), contradictions: on.contradictions(&state), on, doubts }
}

async fn held_against_ledger(
    context: &QrContext,
    found: &Loaded,
) -> Result<(State, (OnRecord, Vec<String>)), Failure> {
    match context.existing_door().await? {
        Some(door) => Ok(door.on_record(found).await?),
        None => {
            let nothing = OnRecord::default();
            let doubts = nothing.doubts(&found.state, &found.digest, &[]);
            Ok((found.state.clone(), (nothing, doubts)))
        }
    }
}
