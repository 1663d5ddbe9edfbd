//! The commands that only look: no lock, no ledger. `init` is here too; it makes a folder.

use super::place::Place;
use super::{Failure, json};
use crate::output::Answer;
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition;
use countersign_doors::qr::{Phase, State, words};
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
pub fn gate(place: &Place) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let found = place.dir.read(phase)?;
    // A file that is not there has no items, and no items are no pass.
    let state = found.map_or_else(|| State::new(phase, vec![]), |loaded| loaded.state);
    let (here, policy) = (place.here(phase), place.policy());
    let outcome = transition::gate(&state, policy).end.outcome();
    Ok(Answer::new(outcome, words::gate_answer(&state, policy, &here), json::state(&state, policy, &here)))
}

/// The overview, worked out now.
pub fn status(place: &Place) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let state = place.dir.require(phase)?.state;
    let text = words::overview(&state, policy, &here);
    Ok(Answer::new(Outcome::Passed, text, json::state(&state, policy, &here)))
}
