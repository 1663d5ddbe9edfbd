//! The commands that only read, and `init`. Their answers come from the state file; facts of the ledger are warnings.

use super::{Answered, Place};
use crate::Failure;
use crate::answer::v1::qr::{ByWord, Execute, ExecuteFailed, FailedItem, Init, Phase, Status};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition;
use countersign_doors::qr::{Here, Loaded, OnRecord, Phase as Selection, State, words};

pub fn init(place: &Place) -> Result<Answered<Init>, Failure> {
    let created = place.dir.create()?;
    let here = place.here(Selection::PlanStructure);
    let state_dir = place.dir.path().display().to_string();
    let answer = Init { state_dir, created, next: here.command("execute") };
    Ok(Answered::new(Outcome::Passed, words::initialised(&here, created), answer))
}

pub fn execute(place: &Place) -> Result<Answered<Execute>, Failure> {
    let phase = place.phase()?;
    let here = place.here(phase);
    let answer = Execute { phase: phase.name(), task: words::task(phase), next: here.execute() };
    Ok(Answered::new(Outcome::Passed, words::execute(&here), answer))
}

/// `qr execute --qr-fail`: the blocking failures of a phase.
pub fn execute_failed(place: &Place) -> Result<Answered<ExecuteFailed>, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let state = place.dir.require(phase)?.state;
    let failures = FailedItem::all(&state, policy, words::fix_of);
    let answer = ExecuteFailed { phase: Phase::new(&state, policy, &here), failures };
    Ok(Answered::new(Outcome::Passed, words::execute_failed(&state, policy, &here), answer))
}

/// `qr gate`: pass or fail, from the state file alone.
pub async fn gate(place: &Place) -> Result<Answered<Phase>, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let Some(found) = place.dir.read(phase)? else { return Ok(nothing(place, &here)) };
    let (_, warnings) = on_record(place, &found).await;
    let state = found.state;
    let outcome = transition::gate(&state, policy).end.outcome();
    let text = words::gate_answer(&state, policy, &here);
    Ok(Answered::new(outcome, text, Phase::new(&state, policy, &here)).warn(warnings))
}

/// The gate without a state file: no items are no pass.
fn nothing(place: &Place, here: &Here) -> Answered<Phase> {
    let (state, policy) = (State::new(here.phase, vec![]), place.policy());
    let is_dir = place.dir.path().is_dir();
    let next = if is_dir { here.decompose() } else { here.init() };
    let outcome = transition::gate(&state, policy).end.outcome();
    let text = words::gate_without_file(here, is_dir, &next);
    Answered::new(outcome, text, Phase { next, ..Phase::new(&state, policy, here) })
}

pub async fn status(place: &Place) -> Result<Answered<Status>, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let found = place.dir.require(phase)?;
    let (on, warnings) = on_record(place, &found).await;
    let state = found.state;
    let by_word = on.by_word(&state);
    let text = words::overview(&state, policy, &here, &by_word);
    let by_word = by_word.into_iter().map(|(id, by)| ByWord { id: id.to_owned(), by }).collect();
    let answer = Status { phase: Phase::new(&state, policy, &here), by_word };
    Ok(Answered::new(Outcome::Passed, text, answer).warn(warnings))
}

/// The record of a state in the ledger, and warnings. Reading never creates a ledger.
async fn on_record(place: &Place, found: &Loaded) -> (OnRecord, Vec<String>) {
    let held = held_against_ledger(place, found).await;
    // The answer comes from the file, also where the ledger cannot be read.
    held.unwrap_or_else(|failure| {
        (OnRecord::default(), vec![format!("the ledger cannot be read: {}", failure.message)])
    })
}

async fn held_against_ledger(place: &Place, found: &Loaded) -> Result<(OnRecord, Vec<String>), Failure> {
    match place.existing_door().await? {
        Some(door) => Ok(door.on_record(found).await?),
        None => {
            let nothing = OnRecord::default();
            let doubts = nothing.doubts(&found.state, &found.digest, &[]);
            Ok((nothing, doubts))
        }
    }
}
