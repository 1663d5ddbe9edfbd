//! The commands that change a phase: under the lock of its file, and on record.

use super::arguments::{AcceptOptions, FixedOptions, RecordOptions};
use super::place::Place;
use super::{Failure, json};
use crate::output::Answer;
use countersign_app::author::actor;
use countersign_core::outcome::Outcome;
use countersign_doors::qr::transition::Ruling;
use countersign_doors::qr::{State, given, scope_digest, words};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How large a list of items may be.
const ITEMS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Takes items from the caller.
pub async fn decompose(place: &Place, items: &Path, again: bool) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (path, text) = read_items(place, items)?;
    let items = given::parse(&path, &text, phase).map_err(|problem| Failure::at(vec![problem]))?;
    let door = place.door().await?;
    let state = door.decompose(items, again.then(actor).as_ref(), &actor()).await?;
    let text = words::decompose_complete(&state, &place.here(phase));
    Ok(answer(place, &state, text))
}

fn read_items(place: &Place, typed: &Path) -> Result<(std::path::PathBuf, String), Failure> {
    let mut bytes = vec![];
    let limited =
        |from: Box<dyn Read>, bytes: &mut Vec<u8>| from.take(ITEMS_BYTES_MAX + 1).read_to_end(bytes);
    let (path, read) = match typed == Path::new("-") {
        true => ("standard input".into(), limited(Box::new(std::io::stdin().lock()), &mut bytes)),
        false => {
            let path = place.project.here.join(typed);
            let read = File::open(&path).and_then(|file| limited(Box::new(file), &mut bytes));
            (path, read)
        }
    };
    let shown = path.display();
    read.map_err(|error| Failure::usage(format!("the items in `{shown}` cannot be read: {error}")))?;
    if bytes.len() as u64 > ITEMS_BYTES_MAX {
        return Err(Failure::usage(format!("the items in `{shown}` are more than {ITEMS_BYTES_MAX} bytes")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((path, text)),
        Err(_) => Err(Failure::usage(format!("the items in `{shown}` are not UTF-8"))),
    }
}

/// Records what a verifier says.
pub async fn record(place: &Place, options: &RecordOptions) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let ruling = Ruling::of(&options.ruling, options.finding.as_deref())?;
    let door = place.door().await?;
    let found = place.dir.require(phase)?.state;
    let scope = found.item(&options.id).map(|item| &item.scope);
    let digest = scope.and_then(|scope| scope_digest::now(&door.root, scope));
    let state = door.record(&options.id, &ruling, digest, (false, &actor())).await?;
    let text = words::recorded(&state, &options.id, place.policy(), &place.here(phase));
    Ok(answer(place, &state, text))
}

/// Takes a fix: the next round, with everything it may have touched open again.
pub async fn fixed(place: &Place, options: &FixedOptions) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let project = &place.project;
    let relative = |path: &std::path::PathBuf| project.root.relative(&project.here, path);
    let files: Result<Vec<String>, _> = options.files.iter().map(relative).collect();
    let files = files.map_err(|problem| Failure::usage(problem.to_string()))?;
    let door = place.door().await?;
    let (state, fixed) = door.fixed(&files, &actor()).await?;
    let text = words::fixes_applied(&state, &fixed, place.policy(), &place.here(phase));
    let mut answer = answer(place, &state, text);
    answer.json.insert("next_round".to_owned(), json!(fixed.next_round));
    answer.json.insert("reopened".to_owned(), json!(fixed.reopened));
    Ok(answer)
}

/// Takes an item as it is.
pub async fn accept(place: &Place, options: &AcceptOptions) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let door = place.door().await?;
    let state = door.accept(&options.id, &options.reason, &actor()).await?;
    let text = words::accepted(&state, &options.id, place.policy(), &place.here(phase));
    Ok(answer(place, &state, text))
}

/// Begins a phase again.
pub async fn reset(place: &Place) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let removed = place.door().await?.reset(&actor()).await?;
    let here = place.here(phase);
    let json = json!({ "phase": phase.name(), "removed": removed, "next": here.decompose() });
    Ok(Answer::new(Outcome::Passed, words::reset(&here, removed), json))
}

/// The change was made; that is these commands' success, whatever the gate says about it.
fn answer(place: &Place, state: &State, text: String) -> Answer {
    let json = json::state(state, place.policy(), &place.here(state.phase));
    Answer::new(Outcome::Passed, text, json)
}
