//! The commands that only look. What they answer is the file's; what the ledger knows beside it is said as a
//! warning. `init` is here too; it makes a folder.

use super::place::Place;
use super::{Failure, json};
use crate::output::Answer;
use countersign_core::outcome::Outcome;
use countersign_doors::qr::file::Loaded;
use countersign_doors::qr::transition;
use countersign_doors::qr::{Here, OnRecord, Phase, State, words};
use serde_json::{Value, json};

/// Makes the state directory.
pub fn init(place: &Place) -> Result<Answer, Failure> {
    let created = place.dir.create()?;
    let here = place.here(Phase::PlanStructure);
    let text = words::initialised(&here, created);
    let json = json!({
        "state_dir": place.dir.path().display().to_string(),
        "created": created,
        "next": here.command("execute"),
    });
    Ok(Answer::new(Outcome::Passed, text, json))
}

/// The task of a phase, or what its fixer has to know.
pub fn execute(place: &Place, qr_fail: bool) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    if !qr_fail {
        let json = json!({ "phase": phase.name(), "task": words::task(phase), "next": here.execute() });
        return Ok(Answer::new(Outcome::Passed, words::execute(&here), json));
    }
    let state = place.dir.require(phase)?.state;
    let text = words::execute_failed(&state, policy, &here);
    let mut json = json::state(&state, policy, &here);
    json["failures"] = Value::Array(json::failures(&state, policy, words::fix_of));
    Ok(Answer::new(Outcome::Passed, text, json))
}

/// One bit, from the disk and nothing else.
pub async fn gate(place: &Place) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let Some(found) = place.dir.read(phase)? else { return Ok(nothing(place, &here)) };
    let (_, warnings) = on_record(place, &found).await;
    let state = found.state;
    let outcome = transition::gate(&state, policy).end.outcome();
    let text = words::gate_answer(&state, policy, &here);
    Ok(Answer { warnings, ..Answer::new(outcome, text, json::state(&state, policy, &here)) })
}

/// A file that is not there has no items, and no items are no pass. It says which it is.
fn nothing(place: &Place, here: &Here) -> Answer {
    let (state, policy) = (State::new(here.phase, vec![]), place.policy());
    let is_dir = place.dir.path().is_dir();
    let next = if is_dir { here.decompose() } else { here.init() };
    let mut json = json::state(&state, policy, here);
    json["next"] = Value::String(next.clone());
    let outcome = transition::gate(&state, policy).end.outcome();
    Answer::new(outcome, words::gate_without_file(here, is_dir, &next), json)
}

/// The overview, worked out now.
pub async fn status(place: &Place) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let found = place.dir.require(phase)?;
    let (on, warnings) = on_record(place, &found).await;
    let state = found.state;
    let by_word = on.by_word(&state);
    let text = words::overview(&state, policy, &here, &by_word);
    let mut json = json::state(&state, policy, &here);
    json["by_word"] = by_word.iter().map(|(id, by)| json!({ "id": id, "by": by })).collect();
    Ok(Answer { warnings, ..Answer::new(Outcome::Passed, text, json) })
}

/// What the ledger knows about a state, and what of it is worth a warning. Looking makes no ledger.
async fn on_record(place: &Place, found: &Loaded) -> (OnRecord, Vec<String>) {
    let held = held_against_ledger(place, found).await;
    // The answer is the file's, whatever became of the ledger.
    held.unwrap_or_else(|failure| {
        (OnRecord::default(), vec![format!("what is on record cannot be read: {}", failure.message)])
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
