//! `countersign qr`: a decomposed review in a state file, as agents and people drive it.

pub mod asked;
mod crowd;
mod faults;
mod flow;
mod gate;
mod input;
mod next;
mod people;
mod reopening;
mod validate;
mod visible;

use countersign_testkit::{Project, Ran};
use serde_json::{Value, json};

/// The state file of these tests.
const FILE: &str = "state/qr-plan-code.json";

/// A project with a state directory.
pub fn project() -> Project {
    let project = crate::project().judged_from_outside();
    std::fs::create_dir(project.path("state")).unwrap();
    project
}

/// The arguments of a command on the phase of these tests.
pub fn args<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["qr"], words, &["--state-dir", "state", "--phase", "plan-code"]].concat()
}

pub fn qr(project: &Project, words: &[&str]) -> Ran {
    project.run(&args(words))
}

/// A project whose phase has these items.
pub fn decomposed(items: &Value) -> Project {
    let project = project();
    project.write("items.json", items.to_string());
    qr(&project, &["decompose", "--items", "items.json"]).exits(0);
    project
}

/// `n` items about everything.
pub fn plain_items(n: usize) -> Value {
    (0..n).map(|n| json!({ "scope": "*", "check": format!("check {n}") })).collect()
}

fn state(project: &Project) -> Value {
    serde_json::from_str(&project.read(FILE)).unwrap()
}

/// The statuses of all items, in their order.
fn statuses(project: &Project) -> Vec<String> {
    let state = state(project);
    let items = state["items"].as_array().unwrap();
    items.iter().map(|item| item["status"].as_str().unwrap().to_owned()).collect()
}

/// What the ledger has recorded about the phase: kinds and bodies, in order.
fn notes(project: &Project) -> Vec<(String, Value)> {
    use countersign_engine::ledger::Ledger;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = Ledger::open_existing(&project.ledger_dir()).await.unwrap().unwrap();
        let mut streams = ledger.streams("qr/", 10).await.unwrap();
        streams.retain(|stream| !stream.ends_with("/artifacts"));
        let [stream] = streams.as_slice() else { panic!("{streams:?}") };
        let notes = ledger.notes(stream).await.unwrap();
        notes.into_iter().map(|note| (note.kind, serde_json::from_str(&note.body).unwrap())).collect()
    })
}
