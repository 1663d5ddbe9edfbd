//! Many verifiers at once, a fixer among them, and readers all the time: no acknowledged update is lost.

use super::{FILE, args, decomposed, notes, plain_items, state};
use countersign_testkit::{Project, Ran};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ITEMS: usize = 64;
const TIMES: usize = 20;

/// Looks at the file over and over; says how often it saw a whole one.
fn reader(project: &Project, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    let (path, stop) = (project.path(FILE), Arc::clone(stop));
    std::thread::spawn(move || {
        let mut looks = 0;
        while !stop.load(Ordering::SeqCst) {
            let state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(state["items"].as_array().unwrap().len(), ITEMS);
            looks += 1;
            // Looking without a pause would take the processor from those that are looked at.
            std::thread::sleep(Duration::from_millis(2));
        }
        looks
    })
}

/// All verifiers at once, with a fixer and two gates in the middle of them.
fn one_time(project: &Project, time: usize) -> (Vec<Ran>, Ran) {
    let ids: Vec<String> = (1..=ITEMS).map(|n| format!("plan-{n:03}")).collect();
    let finding = format!("time {time}");
    let record = |id: &str| project.start(&args(&["record", id, "FAIL", "--finding", &finding]));
    let first: Vec<_> = ids[..ITEMS / 2].iter().map(|id| record(id)).collect();
    let gates = [project.start(&args(&["gate"])), project.start(&args(&["gate"]))];
    let fixer = project.start(&args(&["fixed", "--json"]));
    let second: Vec<_> = ids[ITEMS / 2..].iter().map(|id| record(id)).collect();
    for gate in gates {
        let gate = gate.wait();
        assert!([1, 4].contains(&gate.code), "{gate:?}");
    }
    let recorded = first.into_iter().chain(second).map(|verifier| verifier.wait().exits(0)).collect();
    (recorded, fixer.wait().exits(0))
}

/// QR-11.
#[test]
fn slow_qr_11_sixty_four_verifiers_twenty_times_lose_nothing() {
    let project = decomposed(&plain_items(ITEMS));
    let rules = "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: C, ask: 'x?'}]}]\n";
    let table = "blocking: [{from_round: 1, severity: may}]";
    let limits = format!("qr: {{ceiling_rounds: 1000, item_failures_max: 1000, {table}}}\n");
    project.write("countersign.yml", format!("{rules}{limits}"));
    let stop = Arc::new(AtomicBool::new(false));
    let reader = reader(&project, &stop);
    let mut rounds = 1;
    for time in 0..TIMES {
        let (recorded, fixer) = one_time(&project, time);
        assert_eq!(recorded.len(), ITEMS);
        rounds += usize::from(fixer.json()["next_round"] == true);
    }
    stop.store(true, Ordering::SeqCst);
    assert!(reader.join().unwrap() > 0);

    let state = state(&project);
    assert_eq!(state["iteration"].as_u64().unwrap_or(1), rounds as u64);
    // The ledger has the order of the file: what it recorded, one after the other, is what the file says.
    let mut expected: HashMap<String, String> = HashMap::new();
    let mut updates = 0;
    for (kind, body) in notes(&project) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match kind.as_str() {
            "qr_recorded" => {
                updates += 1;
                expected.insert(text(&body["item"]), text(&body["status"]));
            }
            "qr_fixed" => {
                let reopened = body["reopened"].as_array().unwrap().iter();
                expected.extend(reopened.map(|id| (text(id), "TODO".to_owned())));
            }
            "qr_decomposed" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(updates, ITEMS * TIMES);
    for item in state["items"].as_array().unwrap() {
        assert_eq!(item["status"], expected[item["id"].as_str().unwrap()], "{item}");
    }
}
