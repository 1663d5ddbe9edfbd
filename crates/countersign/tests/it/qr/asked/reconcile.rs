//! `qr reconcile`: milestones by their criteria, criteria by evidence that is on the disk.

use super::*;

fn reply(status: &str, criteria: &[(&str, Option<&str>)]) -> Value {
    let name = |n: usize| if n == 0 { "It parses".to_owned() } else { format!("It writes {n}") };
    let row = |(n, (status, evidence)): (usize, &(&str, Option<&str>))| json!({ "criterion": name(n), "status": status, "evidence": evidence, "note": null });
    json!({ "status": status, "criteria": criteria.iter().enumerate().map(row).collect::<Vec<_>>() })
}

/// QR-1.
#[test]
fn slow_qr_1_milestones_are_satisfied_by_evidence_that_is_there() {
    let met = ("MET", Some("src/a.rs:2"));
    let table = [
        (reply("SATISFIED", &[met]), 0, "M1: SATISFIED\n- MET: It parses (src/a.rs:2)\n"),
        (reply("NOT_SATISFIED", &[("NOT_MET", None)]), 1, "M1: NOT_SATISFIED\n- NOT_MET: It parses\n"),
        (reply("PARTIALLY_SATISFIED", &[met, ("NOT_MET", None)]), 1, "M1: PARTIALLY_SATISFIED\n"),
        (
            reply("SATISFIED", &[met, ("MET", Some("src/a.rs:3"))]),
            1,
            "- NOT_MET: It writes 1 (src/a.rs:3): the evidence does not count: `src/a.rs` has only 2 lines\n",
        ),
        (
            reply("SATISFIED", &[("MET", Some("src/b.rs:1"))]),
            1,
            "M1: NOT_SATISFIED\n- NOT_MET: It parses (src/b.rs:1): the evidence does not count: there is no file `src/b.rs`\n",
        ),
        (reply("SATISFIED", &[("MET", Some("/etc/passwd:1"))]), 1, "is outside the project root"),
        (reply("SATISFIED", &[("NOT_MET", None)]), 4, "M1: no verdict (garbled): `status` is SATISFIED"),
        (reply("SATISFIED", &[]), 4, "M1: no verdict (garbled): there are 0 criteria"),
    ];
    for (milestone, code, words) in table {
        let project = project();
        let two = milestone["criteria"].as_array().is_some_and(|all| all.len() == 2);
        let plan = format!(
            "## Milestone M1: Parse\n\nIn src/a.rs.\n\nAcceptance:\n- It parses\n{}",
            if two { "- It writes 1\n" } else { "" }
        );
        project.write("plan.md", plan).write("src/a.rs", "one\ntwo\n");
        let judge = reviewer(&project, &Says { milestone, ..Says::default() }, "");
        let ran = qr(&project, &["reconcile", "--plan", "plan.md", "--reviewer", judge.name()]).exits(code);
        assert!(ran.stdout.starts_with("RECONCILIATION COMPLETE\n\nStatus: "), "{}", ran.stdout);
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
        assert_eq!(ran.stdout.contains("Status: PASS"), code == 0, "{}", ran.stdout);
        assert!(ran.stdout.lines().last().unwrap().starts_with("NEXT: "), "{}", ran.stdout);
    }
}

#[test]
fn attack_17_every_criterion_of_the_plan_is_answered_by_what_was_shown() {
    let met = ("MET", Some("src/a.rs:2"));
    let table = [
        // One of two is answered; the other is not there, however often it is asked for.
        (
            reply("SATISFIED", &[met]),
            4,
            "no verdict (garbled): the criterion `It writes 1` of the plan is missing",
        ),
        // An invented criterion does not count, for good or bad.
        (reply("SATISFIED", &[met, met, met]), 0, "- MET: It writes 1 (src/a.rs:2)\n\n"),
        // The plan is no evidence, and neither is a file that the reviewer did not see.
        (
            reply("SATISFIED", &[met, ("MET", Some("plan.md:3"))]),
            1,
            "`plan.md` is the plan, or was not shown",
        ),
        (
            reply("SATISFIED", &[met, ("MET", Some("other.rs:1"))]),
            1,
            "`other.rs` is the plan, or was not shown",
        ),
    ];
    for (milestone, code, words) in table {
        let project = project();
        let plan = "## Milestone M1: Parse\n\nIn src/a.rs, see plan.md.\n\n**Acceptance criteria:**\n- It parses\n- It writes 1\n";
        project.write("plan.md", plan).write("src/a.rs", "one\ntwo\n").write("other.rs", "x\n");
        let judge = reviewer(&project, &Says { milestone, ..Says::default() }, "");
        let ran = qr(&project, &["reconcile", "--plan", "plan.md", "--reviewer", judge.name()]).exits(code);
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    countersign_testkit::attack_row(
        "criteria and evidence that the reviewer invented",
        "qr reconcile",
        "refused",
        "the findings",
    );
}

#[test]
fn a_plan_without_milestones_cannot_be_reconciled() {
    let project = project();
    project.write("plan.md", "# Plan\n");
    let judge = reviewer(&project, &Says::default(), "");
    let ran = qr(&project, &["reconcile", "--plan", "plan.md", "--reviewer", judge.name()]).exits(2);
    assert!(ran.stderr.contains("the plan has no milestones"), "{}", ran.stderr);
    assert_eq!(asked(&project), [""; 0]);
}
