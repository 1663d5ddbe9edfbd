//! What is no ruling is none: asked again once, then the item stays as it was.

use super::*;

/// What verifiers say that is neither PASS nor FAIL, how often they are asked, and what it is called.
/// QR-3.
#[test]
fn slow_qr_3_anything_but_a_ruling_leaves_the_item_open() {
    let passed = |id: &str, passed: bool| format!(r#"{{"criterion": "{id}", "passed": {passed}}}"#);
    let reply = |whole: bool, rulings: &[String]| {
        format!(r#"{{"passed": {whole}, "feedback": "f", "criteria_results": [{}]}}"#, rulings.join(", "))
    };
    let table = [
        ("PASS and FAIL".to_owned(), 2, "garbled"),
        ("PASS".to_owned(), 2, "garbled"),
        (String::new(), 2, "garbled"),
        (reply(true, &[passed("plan-001", false)]), 2, "contradictory"),
        (reply(false, &[passed("plan-001", true)]), 2, "contradictory"),
        (reply(true, &[]), 2, "garbled"),
        (reply(true, &[passed("plan-001", true), passed("plan-001", true)]), 2, "garbled"),
        (reply(true, &[passed("plan-002", true)]), 2, "garbled"),
        (r#"{"passed": true, "passed": false, "feedback": ""}"#.to_owned(), 2, "garbled"),
    ];
    let project = project();
    project.write("plan.md", PLAN);
    project.write("items.json", r#"[{"scope": "*", "check": "c", "severity": "MUST"}]"#);
    qr(&project, &["decompose", "--items", "items.json", "--artifact", "plan.md"]).exits(0);
    let mut before = 0;
    for (said, times, reason) in table {
        let judge = Judge::replying(&project, &said);
        let json = qr(&project, &[&verify(&judge)[..], &["--json"]].concat()).exits(4).json();
        assert_eq!(json["unruled"][0]["reason"], reason, "{said}: {json}");
        assert_eq!(judge.asked().len() - before, times, "{said}");
        assert_eq!(statuses(&project), ["TODO"], "{said}");
        before += times;
    }
    qr(&project, &["gate"]).exits(4);
}

#[test]
fn a_failed_item_stays_failed_where_nobody_rules() {
    let (project, judge) = decomposed_by(&Says::default(), "");
    qr(&project, &verify(&judge)).exits(1);
    project.write("plan.md", PLAN.replace("BAD", "good"));
    let silent = Judge::scripted(&project, "silent.sh", "exit 3");
    let ran = qr(&project, &verify(&silent)).exits(4);
    assert!(ran.stderr.contains("plan-002 has no ruling (unavailable)"), "{}", ran.stderr);
    assert!(ran.stdout.contains("- plan-002: Acceptance criteria missing for M1"), "{}", ran.stdout);
    assert_eq!(statuses(&project), ["PASS", "FAIL", "PASS"]);
}

/// Items that cannot be used: asked again once with what is wrong, then there is no file.
/// QR-2.
#[test]
fn slow_qr_2_items_that_cannot_be_used_are_not_taken() {
    let item = |scope: &str, severity: &str| json!({ "scope": scope, "check": "c", "severity": severity });
    let table = [
        (json!({ "items": [] }), "there are no items"),
        (json!({}), "`items` is missing"),
        (json!({ "items": [item("milestone:M7", "MUST")] }), "the plan has no milestone `M7`"),
        (json!({ "items": [item("file:no/such.rs", "MUST")] }), "there is no file `no/such.rs`"),
        (json!({ "items": [item("*", "HIGH")] }), "not one of MUST, SHOULD, MAY"),
        (json!({ "items": [item("", "MUST")] }), "a scope is empty"),
        (json!("PASS"), "not an object"),
    ];
    for (items, words) in table {
        let project = project();
        project.write("plan.md", PLAN);
        let repaired = project.path("repaired").display().to_string();
        let before = format!(
            "case \"$brief\" in *'Your Previous Reply'*) printf '%s' \"$brief\" >'{repaired}';; esac"
        );
        let judge = reviewer(&project, &Says { items, ..Says::default() }, &before);
        let ran = qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(4);
        assert!(ran.stderr.contains("garbled") && ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(asked(&project).len(), 2, "{words}");
        assert!(project.read("repaired").contains(words), "{words}");
        assert!(!project.path(super::super::FILE).exists());
    }
}

#[test]
fn instructions_nobody_gives_are_the_findings() {
    let says = Says { fixes: json!({ "fixes": [{ "id": "plan-003", "fix": "x" }] }), ..Says::default() };
    let (project, judge) = decomposed_by(&says, "");
    qr(&project, &verify(&judge)).exits(1);
    let ran = qr(&project, &["fix", "--reviewer", judge.name()]).exits(0);
    assert!(ran.stderr.contains("`plan-003` is not one of the failed items"), "{}", ran.stderr);
    let fix = "Fix: Acceptance criteria missing for M1\n  After the fix, this must be true: Check acceptance criteria\n";
    assert!(ran.stdout.contains(fix), "{}", ran.stdout);
    // Without a reviewer nobody is asked.
    asked(&project);
    assert!(qr(&project, &["fix"]).exits(0).stdout.contains(fix));
    assert_eq!(asked(&project), [""; 0]);
}

#[test]
fn the_budget_of_the_day_holds_for_consultations() {
    let project = project();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, &Says::default(), "");
    let config = "version: 1\nreviewers: [{name: main, use: command, command: [JUDGES/judge.sh]}]\n\
                  policy: {day_budget_tokens: 1000}\n\
                  rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";
    let config = config.replace("JUDGES", &project.judges().display().to_string());
    project.write("countersign.yml", config);
    let ran = qr(&project, &["decompose", "--artifact", "plan.md"]).exits(5);
    assert!(ran.stderr.contains("the budget of the day"), "{}", ran.stderr);
    assert_eq!(judge.asked().len(), 0);
}
