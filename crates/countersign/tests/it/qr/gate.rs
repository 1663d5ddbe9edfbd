//! The gate reads the disk and nothing else, and passes only what is complete.

use super::{FILE, project, qr};
use serde_json::{Value, json};

fn item(id: &str, severity: &str, status: &str) -> Value {
    let finding = if status == "FAIL" { json!("secret detail") } else { Value::Null };
    json!({ "id": id, "scope": "*", "check": "c", "status": status, "finding": finding, "severity": severity })
}

fn file(iteration: u32, items: &[Value]) -> String {
    json!({ "schema_version": "1.0", "phase": "plan-code", "iteration": iteration, "items": items })
        .to_string()
}

/// QR-14.
#[test]
fn qr_14_every_end_of_the_gate_has_its_exit_code() {
    let pass = item("a", "MUST", "PASS");
    let capped = {
        let mut item = item("a", "MUST", "FAIL");
        item["fail_count"] = json!(5);
        item
    };
    let accepted = {
        let mut item = item("a", "MUST", "FAIL");
        item["accepted"] = json!(true);
        item["acceptance_reason"] = json!("known");
        item
    };
    let rows: Vec<(Option<String>, i32, &str)> = vec![
        (Some(file(1, std::slice::from_ref(&pass))), 0, "Status: PASS"),
        (Some(file(50, std::slice::from_ref(&pass))), 0, "Status: PASS"),
        // No person is on record.
        (Some(file(1, &[accepted])), 1, "Status: FAIL"),
        (Some(file(1, &[pass.clone(), item("b", "MUST", "FAIL")])), 1, "Status: FAIL\n\nNEXT: Invoke fixer"),
        (Some(file(2, &[item("b", "MAY", "FAIL")])), 1, "Status: FAIL"),
        (Some(file(3, &[item("b", "MAY", "FAIL")])), 0, "Waived at round 3:\n- b: secret detail"),
        (Some(file(4, &[item("b", "SHOULD", "FAIL")])), 1, "Status: FAIL"),
        (Some(file(5, &[item("b", "SHOULD", "FAIL")])), 0, "Waived at round 5:"),
        (Some(file(1, &[item("a", "MUST", "FAIL"), item("b", "MUST", "TODO")])), 1, "Status: FAIL"),
        (Some(file(1, &[pass.clone(), item("b", "MUST", "TODO")])), 4, "not verified yet: 1"),
        (Some(file(1, &[])), 4, "there are no items"),
        (None, 4, "Status: FAIL (`state` has no qr-plan-code.json)\n\nNEXT: Break the artifact into items."),
        (Some(file(5, &[item("a", "MUST", "FAIL")])), 6, "round 5 of at most 5 is over"),
        (Some(file(50, &[item("a", "MUST", "FAIL")])), 6, "round 50 of at most 5"),
        (Some(file(50, &[item("a", "MUST", "TODO")])), 6, "round 50 of at most 5"),
        (Some(file(2, &[capped])), 6, "a failed 5 times"),
        (Some(file(1, &[pass.clone(), pass.clone()])), 2, "two items have the id `a`"),
        (Some(file(1, &[item("a", "MUST", "DONE")])), 2, "TODO, PASS or FAIL"),
        (Some(file(1, &[item("a", "HUGE", "PASS")])), 2, "unknown severity"),
        (
            Some(file(1, std::slice::from_ref(&pass)).replace("plan-code", "plan-docs")),
            2,
            "its name says plan-code",
        ),
        (Some(file(1, &[pass])[..60].to_owned()), 2, "EOF"),
        (Some("not json".to_owned()), 2, "expected"),
    ];
    for (text, code, expected) in rows {
        let project = project();
        if let Some(text) = &text {
            project.write(FILE, text);
        }
        let ran = qr(&project, &["gate"]).exits(code);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(expected), "{expected}\n{said}");
        assert_eq!(ran.stdout.contains("Status: PASS"), code == 0, "{said}");
        if code == 1 {
            assert!(!said.contains("secret detail"), "{said}");
        }
        let json = qr(&project, &["gate", "--json"]).exits(code).json();
        assert_eq!((&json["exit_code"], &json["command"]), (&json!(code), &json!("qr gate")));
        if code != 2 {
            assert_eq!(json["status"], if code == 0 { "PASS" } else { "FAIL" });
        } else {
            assert!(json["error"]["line"].is_number(), "{json}");
        }
        // It looks and leaves nothing behind.
        let left: Vec<_> = std::fs::read_dir(project.path("state")).unwrap().collect();
        assert_eq!(left.len(), usize::from(text.is_some()));
        assert!(!project.ledger_dir().exists());
    }
}

/// QR-9.
#[test]
fn qr_9_the_next_line_of_a_gate_without_a_state_directory_leads_to_one() {
    let project = crate::project();
    let said = qr(&project, &["gate"]).exits(4).stdout;
    let next = "NEXT: Make the state directory. Run: countersign qr init --state-dir state\n";
    assert_eq!(said, format!("Status: FAIL (there is no state directory `state`)\n\n{next}"));
    project.run(&["qr", "init", "--state-dir", "state"]).exits(0);
    assert!(qr(&project, &["gate"]).exits(4).stdout.contains("has no qr-plan-code.json"));
}

/// QR-14.
#[test]
fn qr_14_nobody_tells_the_gate_how_it_ends() {
    let project = project();
    for words in [&["gate", "--qr-status", "pass"][..], &["gate", "PASS"], &["gate", "--force"]] {
        qr(&project, words).exits(2);
    }
}

/// QR-12.
#[test]
fn qr_12_the_table_and_the_limits_are_settings() {
    let project = project();
    project.write(FILE, file(4, &[item("b", "SHOULD", "FAIL")]));
    qr(&project, &["gate"]).exits(1);
    let rules = "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: C, ask: 'x?'}]}]\n";
    let table = "[{from_round: 1, severity: may}, {from_round: 3, severity: should}, {from_round: 4, severity: must}]";
    project.write("countersign.yml", format!("{rules}qr: {{blocking: {table}}}\n"));
    qr(&project, &["gate"]).exits(0);
    project.write("countersign.yml", format!("{rules}qr: {{ceiling_rounds: 4}}\n"));
    qr(&project, &["gate"]).exits(6);
    project.write("countersign.yml", format!("{rules}qr: {{item_failures_max: 1}}\n"));
    qr(&project, &["gate"]).exits(6);
    for (line, expected) in [
        ("qr: {ceiling: 3}", "ceiling_rounds"),
        ("qr: {ceiling_rounds: 0}", "ceiling_rounds"),
        ("qr: {blocking: [{from_round: 1}]}", "severity"),
        ("qr: {state_dir: ''}", "state_dir"),
    ] {
        project.write("countersign.yml", format!("{rules}{line}\n"));
        let ran = project.run(&["validate"]).exits(2);
        assert!(ran.stderr.contains(expected) && ran.stderr.contains("countersign.yml:3"), "{}", ran.stderr);
        // A gate does not use it, and says so.
        let ran = qr(&project, &["gate"]).exits(6);
        assert!(ran.stderr.contains("is invalid and was not used"), "{}", ran.stderr);
    }
}

#[test]
fn the_state_directory_comes_from_flag_environment_or_file() {
    let project = project();
    project.write(FILE, file(1, &[item("a", "MUST", "PASS")]));
    let run = |args: &[&str], variable: Option<&str>| {
        let mut command = project.command(args);
        variable.map(|value| command.env("STATE_DIR", value));
        countersign_testkit::Running::start(&mut command).wait()
    };
    run(&["qr", "--phase", "plan-code", "gate", "--state-dir", "state"], Some("elsewhere")).exits(0);
    run(&["qr", "gate", "--phase", "plan-code"], Some("state")).exits(0);
    let none = run(&["qr", "gate", "--phase", "plan-code"], None).exits(2);
    assert!(none.stderr.contains("STATE_DIR"), "{}", none.stderr);
    run(&["qr", "gate", "--phase", "plan-code"], Some("")).exits(2);
    let rules = "version: 1\nrules: [{name: r, for: ['*.md'], criteria: [{name: C, ask: 'x?'}]}]\n";
    project.write("countersign.yml", format!("{rules}qr: {{state_dir: state}}\n"));
    run(&["qr", "gate", "--phase", "plan-code"], None).exits(0);
    let ran = run(&["qr", "gate"], None).exits(2);
    assert!(ran.stderr.contains("--phase"), "{}", ran.stderr);
    let ran = run(&["qr", "gate", "--phase", "plan-kode"], None).exits(2);
    assert!(ran.stderr.contains("did you mean `plan-code`"), "{}", ran.stderr);
}

#[test]
fn the_first_phase_goes_by_two_names_and_has_one_file() {
    let project = project();
    let text = r#"{"phase": "plan-design", "items": [{"id": "qa-001", "scope": "*", "check": "c"}]}"#;
    project.write("state/qr-plan-design.json", text);
    let run = |words: &[&str]| project.run(&[words, &["--state-dir", "state"]].concat());
    run(&["qr", "record", "qa-001", "PASS", "--phase", "plan-structure"]).exits(0);
    run(&["qr", "gate", "--phase", "plan-design"]).exits(0);
    assert!(!project.path("state/qr-plan-structure.json").exists());
    project.write("state/qr-plan-structure.json", text);
    let ran = run(&["qr", "gate", "--phase", "plan-structure"]).exits(2);
    assert!(ran.stderr.contains("both"), "{}", ran.stderr);
}
