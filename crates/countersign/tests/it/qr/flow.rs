//! The document's flow, command by command: callers need one bit and the NEXT line.

use super::{FILE, decomposed, notes, plain_items, project, qr, state, statuses};
use serde_json::json;

/// QR-15.
#[test]
fn qr_15_a_phase_from_its_work_to_its_gate() {
    let project = crate::project();
    let init = qr(&project, &["init"]).exits(0).stdout;
    assert!(init.starts_with("State directory: state (created)\n\nNEXT: "), "{init}");
    qr(&project, &["init"]).exits(0);
    let task = qr(&project, &["execute"]).exits(0).stdout;
    assert!(task.contains("Task: ") && task.contains("NEXT: "), "{task}");
    project.write(
        "items.json",
        json!({ "items": [
        { "scope": "*", "check": "Verify milestone definitions", "severity": "MUST" },
        { "scope": "milestone:M1", "check": "Check acceptance criteria" },
    ] })
        .to_string(),
    );
    let done = qr(&project, &["decompose", "--items", "items.json"]).exits(0).stdout;
    assert!(done.starts_with("DECOMPOSE COMPLETE\n\nItems created: 2\n- plan-001: Verify milestone definitions (scope: *)\n- plan-002: Check acceptance criteria (scope: milestone:M1)\n\nNEXT: Invoke verifiers for each item."), "{done}");
    qr(&project, &["gate"]).exits(4);
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    qr(
        &project,
        &["record", "plan-002", "FAIL", "--finding", "Acceptance criteria missing for M1\nNeed more"],
    )
    .exits(0);
    let gate = qr(&project, &["gate"]).exits(1).stdout;
    assert!(gate.starts_with("Status: FAIL\n\nNEXT: Invoke fixer with failed items. Run: countersign qr execute --qr-fail --state-dir state --phase plan-code\n"), "{gate}");
    let fixer = qr(&project, &["execute", "--qr-fail"]).exits(0).stdout;
    assert!(fixer.starts_with("2 items: 1 PASS, 1 FAIL\n\nItem plan-002 failed: Acceptance criteria missing for M1\n  Need more\n"), "{fixer}");
    let fix = qr(&project, &["fix"]).exits(0).stdout;
    assert!(
        fix.starts_with(
            "FIX GUIDANCE\n\nItem plan-002: Acceptance criteria missing for M1\nScope: milestone:M1\nFix: "
        ),
        "{fix}"
    );
    let fixed = qr(&project, &["fixed"]).exits(0).stdout;
    assert!(fixed.starts_with("Fixes applied\n") && fixed.contains("NEXT: Invoke verifiers"), "{fixed}");
    assert_eq!(statuses(&project), ["TODO", "TODO"]);
    assert_eq!(state(&project)["iteration"], 2);
    qr(&project, &["gate"]).exits(4);
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    qr(&project, &["record", "plan-002", "PASS"]).exits(0);
    let gate = qr(&project, &["gate"]).exits(0).stdout;
    assert_eq!(
        gate,
        "Status: PASS\n\nNEXT: Continue to next phase. Run: countersign qr execute --state-dir state --phase plan-docs\n"
    );
    let status = qr(&project, &["status", "--json"]).exits(0).json();
    assert_eq!((&status["loop_state"], &status["round"]), (&json!("COMPLETE"), &json!(2)));
    let kinds: Vec<_> = notes(&project).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        ["qr_decomposed", "qr_recorded", "qr_recorded", "qr_fixed", "qr_recorded", "qr_recorded"]
    );
    project.run(&["log", "--verify"]).exits(0);
}

/// QR-13.
#[test]
fn qr_13_the_round_goes_up_by_one_for_a_fix_and_by_nothing_else() {
    let project = decomposed(&plain_items(2));
    qr(&project, &["fixed"]).exits(0);
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "x"]).exits(0);
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "y"]).exits(0);
    for words in [&["gate"][..], &["status"], &["execute", "--qr-fail"], &["fix"]] {
        qr(&project, words);
    }
    assert_eq!(state(&project)["iteration"], json!(null));
    for _ in 0..3 {
        qr(&project, &["fixed"]).exits(0);
        assert_eq!(state(&project)["iteration"], 2);
    }
    project.write("more.json", plain_items(1).to_string());
    qr(&project, &["decompose", "--items", "more.json"]).exits(2);
    let refused = qr(&project, &["decompose", "--items", "more.json", "--again"]).exits(2);
    assert!(refused.stderr.contains("only a person may replace the items"), "{}", refused.stderr);
    assert_eq!((&state(&project)["iteration"], statuses(&project).len()), (&json!(2), 2));
}

/// Before anything has failed, other items are nobody's way past the gate.
#[test]
fn items_are_put_in_the_place_of_others_where_it_is_asked_for() {
    let project = decomposed(&plain_items(2));
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    project.write("more.json", plain_items(1).to_string());
    qr(&project, &["decompose", "--items", "more.json", "--again"]).exits(0);
    assert_eq!(statuses(&project), ["TODO"]);
}

#[test]
fn a_loop_stops_at_its_ceiling() {
    let project = decomposed(&json!([{ "scope": "*", "check": "c", "severity": "MUST" }]));
    for round in 1..=5 {
        qr(&project, &["record", "plan-001", "FAIL", "--finding", "still wrong"]).exits(0);
        let code = if round == 5 { 6 } else { 1 };
        qr(&project, &["gate"]).exits(code);
        qr(&project, &["fixed"]).exits(if round == 5 { 6 } else { 0 });
    }
    let before = project.read(FILE);
    let ran = qr(&project, &["fixed", "--json"]).exits(6).json();
    assert_eq!(ran["reason"], "attempts_used_up");
    assert_eq!(project.read(FILE), before);
}

#[test]
fn a_file_that_others_changed_is_taken_and_that_is_recorded() {
    let project = decomposed(&plain_items(2));
    let theirs = project.read(FILE).replace("check 1", "another check");
    project.write(FILE, theirs);
    qr(&project, &["record", "plan-001", "PASS"]).exits(0);
    assert!(project.read(FILE).contains("another check"));
    let kinds: Vec<_> = notes(&project).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["qr_decomposed", "qr_changed_elsewhere", "qr_recorded"]);
}

#[test]
fn a_file_of_others_keeps_what_it_says() {
    let project = project();
    let text = r#"{"phase": "plan-code", "iteration_sig": "s", "items": [
      {"id": "qa-001", "scope": "*", "check": "c", "group_id": "g", "version": 2, "severity": "COULD"}]}"#;
    project.write(FILE, text);
    qr(&project, &["record", "qa-001", "FAIL", "--finding", "x"]).exits(0);
    let state = state(&project);
    assert_eq!(state["iteration_sig"], "s");
    let item = &state["items"][0];
    assert_eq!(
        (&item["group_id"], &item["version"], &item["severity"]),
        (&json!("g"), &json!(2), &json!("COULD"))
    );
}
