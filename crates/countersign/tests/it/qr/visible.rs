//! Words, edits and removals are taken, because the file is what counts, and they are never taken silently.

use super::{FILE, decomposed, notes, plain_items, project, qr};
use serde_json::json;

const UNRECORDED: &str = "warning: the state file was changed or removed without a record";

/// QR-8.
#[test]
fn qr_8_what_is_on_record_is_said_beside_the_gate_and_stored_nowhere_else() {
    let project = decomposed(&plain_items(2));
    for id in ["plan-001", "plan-002"] {
        qr(&project, &["record", id, "PASS"]).exits(0);
    }
    assert_eq!(qr(&project, &["gate"]).exits(0).stderr, "");
    let before = project.read(FILE);
    let status = qr(&project, &["status"]).exits(0);
    assert!(
        status.stdout.contains("Recorded as PASS without a review, by:\n- plan-001: "),
        "{}",
        status.stdout
    );
    assert!(status.stdout.contains("(a caller without a terminal)\n"), "{}", status.stdout);
    let json = qr(&project, &["status", "--json"]).exits(0).json();
    assert_eq!(json["by_word"][1]["id"], "plan-002");
    assert_eq!(project.read(FILE), before);
}

#[test]
fn a_pass_written_by_hand_is_no_secret() {
    let project = decomposed(&plain_items(3));
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    qr(&project, &["record", "plan-002", "FAIL", "--finding", "bad"]).exits(0);
    let forged = project.read(FILE).replace("TODO", "PASS").replace("\"FAIL\"", "\"PASS\"");
    let forged = forged.replace("\"bad\"", "\"bad\",\n      \"accepted\": true");
    project.write(FILE, forged);
    let ran = qr(&project, &["gate"]).exits(1);
    for words in [
        UNRECORDED,
        "no record says who passed these items: plan-002, plan-003",
        "these items are PASS but have a finding: plan-002",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    // What failed on record has failed.
    assert!(
        ran.stdout.contains("- these items are PASS, but they failed on record: plan-002\n"),
        "{}",
        ran.stdout
    );
    let json = qr(&project, &["gate", "--json"]).exits(1).json();
    assert_eq!((json["warnings"].as_array().unwrap().len(), &json["status"]), (3, &json!("FAIL")));
    let status = qr(&project, &["status"]).exits(0).stdout;
    assert!(status.contains("- plan-003: not recorded\n"), "{status}");
    // It is still said after the next command has taken the file as it is.
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    assert!(qr(&project, &["gate"]).exits(1).stderr.contains(UNRECORDED));
}

/// The folder is named by the caller, and the file in it is the source by the document: that nobody ruled is said.
#[test]
fn attack_17_a_state_file_in_a_folder_of_its_own() {
    let project = decomposed(&plain_items(1));
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "bad"]).exits(0);
    let forged = project.read(FILE).replace("\"FAIL\"", "\"PASS\"").replace("\"bad\"", "null");
    project.write("other/qr-plan-code.json", forged);
    let args = ["qr", "gate", "--state-dir", "other", "--phase", "plan-code", "--json"];
    let json = project.run(&args).exits(0).json();
    assert!(
        json["warnings"].to_string().contains("no record says who passed these items: plan-001"),
        "{json}"
    );
    assert_eq!(json["advisory"], true, "{json}");
    countersign_testkit::attack_row(
        "a state file written by hand in a folder of its own",
        "qr gate",
        "the answer of the document, advisory",
        "a warning; `advisory`",
    );
}

#[test]
fn attack_17_an_acceptance_written_by_hand_is_no_persons() {
    let project = project();
    let item =
        json!({ "id": "a", "scope": "*", "check": "c", "status": "FAIL", "finding": "f", "accepted": true });
    project.write(FILE, json!({ "phase": "plan-code", "items": [item] }).to_string());
    let ran = qr(&project, &["gate"]).exits(1);
    assert!(ran.stderr.contains("no record says who accepted these items: a"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("Accepted by a person"), "{}", ran.stdout);
    countersign_testkit::attack_row("\"accepted\": true by hand", "qr gate", "no pass (exit 1)", "a warning");
}

#[test]
fn attack_17_removing_the_file_does_not_remove_what_happened() {
    let project = decomposed(&plain_items(1));
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "bad"]).exits(0);
    std::fs::remove_file(project.path(FILE)).unwrap();
    qr(&project, &["decompose", "--items", "items.json"]).exits(0);
    // Whoever may not begin again after a failure cannot have it forgotten by beginning again before one.
    qr(&project, &["reset"]).exits(0);
    qr(&project, &["decompose", "--items", "items.json"]).exits(0);
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    let ran = qr(&project, &["gate"]).exits(3);
    assert!(
        ran.stderr.contains(UNRECORDED) && ran.stdout.contains("- the state file or its items were removed"),
        "{ran:?}"
    );
    let (kind, body) = notes(&project)[2].clone();
    assert_eq!((kind.as_str(), &body["found"]), ("qr_changed_elsewhere", &json!(null)));
    countersign_testkit::attack_row(
        "rm qr-*.json after a failure",
        "qr gate",
        "no pass (exit 3)",
        "a warning",
    );
}

#[test]
fn a_file_that_changed_since_it_passed_is_named() {
    let project = decomposed(&json!([{ "scope": "file:a.md", "check": "a" }]));
    project.write("a.md", "good");
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    assert_eq!(qr(&project, &["gate"]).exits(0).stderr, "");
    project.write("a.md", "something else");
    let ran = qr(&project, &["gate"]).exits(0);
    assert!(
        ran.stderr.contains("these files changed after an item about them passed: a.md"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_ledger_that_cannot_be_read_is_no_pass() {
    let project = decomposed(&plain_items(1));
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    for name in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(project.ledger_path(name));
    }
    project.write(".countersign/ledger.db", "no database, and longer than its header would be ".repeat(100));
    let ran = qr(&project, &["gate"]).exits(8);
    assert!(ran.stderr.contains("the ledger is damaged"), "{}", ran.stderr);
}

type Edit<'a> = &'a dyn Fn(&mut serde_json::Value);

#[test]
fn attack_17_items_that_vanish_or_become_easier_do_not_pass() {
    let items = json!([
        { "scope": "*", "check": "hard", "severity": "MUST" },
        { "scope": "*", "check": "easy", "severity": "MAY" },
    ]);
    let edits: [(&str, Edit<'_>); 4] = [
        ("these items are gone: plan-001", &|state| drop(state["items"].as_array_mut().unwrap().remove(0))),
        ("these items have a lower severity than they had: plan-001", &|state| {
            state["items"][0]["severity"] = json!("MAY");
            state["items"][0]["status"] = json!("PASS");
        }),
        ("these items check something else than they did: plan-001", &|state| {
            state["items"][0]["check"] = json!("anything");
            state["items"][0]["status"] = json!("PASS");
        }),
        ("the file says round 3, but the record says round 1", &|state| {
            state["iteration"] = json!(3);
            state["items"][0]["status"] = json!("PASS");
        }),
    ];
    for (words, edit) in edits {
        let project = decomposed(&items);
        qr(&project, &["record", "plan-002", "PASS"]).exits(0);
        let mut state = super::state(&project);
        edit(&mut state);
        project.write(FILE, state.to_string());
        let ran = qr(&project, &["gate"]).exits(3);
        assert!(
            ran.stdout.contains(words) && !ran.stdout.contains("Status: PASS"),
            "{words}: {}",
            ran.stdout
        );
        let json = qr(&project, &["gate", "--json"]).exits(3).json();
        assert_eq!((&json["status"], json["contradictions"].as_array().unwrap().len()), (&json!("FAIL"), 1));
    }
    countersign_testkit::attack_row(
        "items removed or made easier in the state file",
        "qr gate",
        "no pass (exit 3)",
        "the contradictions",
    );
}

#[test]
fn attack_17_a_word_does_not_pass_what_a_review_failed() {
    let (project, judge) = super::asked::decomposed_by(&super::asked::Says::default(), "");
    qr(&project, &["verify", "--reviewer", judge.name()]).exits(1);
    qr(&project, &["record", "plan-002", "PASS"]).exits(0);
    let ran = qr(&project, &["gate"]).exits(1);
    assert!(
        ran.stdout.contains("these items are PASS, but they failed on record: plan-002"),
        "{}",
        ran.stdout
    );
    countersign_testkit::attack_row(
        "record PASS after a review said FAIL",
        "qr gate",
        "no pass (exit 1)",
        "the contradictions",
    );
}

#[test]
fn attack_17_reconcile_sets_a_state_file_right_from_the_ledger() {
    let items = json!([
        { "scope": "*", "check": "hard", "severity": "MUST" },
        { "scope": "*", "check": "easy", "severity": "MAY" },
    ]);
    let project = decomposed(&items);
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "bad"]).exits(0);
    qr(&project, &["record", "plan-002", "PASS"]).exits(0);
    let before = project.read(FILE);
    let forged = [
        before.replace("\"FAIL\"", "\"PASS\""),
        before.replace("\"hard\"", "\"anything\"").replace("\"FAIL\"", "\"PASS\""),
        before.replace("\"MUST\"", "\"MAY\""),
        before.replace("\"bad\"", "\"bad\",\n      \"accepted\": true"),
        json!({ "phase": "plan-code", "items": [] }).to_string(),
    ];
    for forged in forged {
        project.write(FILE, forged);
        let said = project.run(&["reconcile", "--dry-run"]).exits(1);
        assert!(said.stdout.contains("qr-plan-code.json: "), "{}", said.stdout);
        let status = project.run(&["status"]).exits(0).stdout;
        assert!(status.contains("files disagree with the ledger"), "{status}");
        project.run(&["reconcile"]).exits(0);
        project.run(&["reconcile", "--dry-run"]).exits(0);
        qr(&project, &["gate"]).exits(1);
        let state = super::state(&project);
        let item = &state["items"].as_array().unwrap().iter().find(|item| item["id"] == "plan-001").unwrap();
        assert_eq!((&item["check"], &item["severity"]), (&json!("hard"), &json!("MUST")), "{state}");
    }
    std::fs::remove_file(project.path(FILE)).unwrap();
    project.run(&["reconcile"]).exits(0);
    assert_eq!(super::statuses(&project), ["FAIL", "PASS"]);
    qr(&project, &["gate"]).exits(1);
    countersign_testkit::attack_row(
        "a state file that disagrees with the ledger",
        "status, reconcile",
        "shown and set right",
        "status",
    );
}
