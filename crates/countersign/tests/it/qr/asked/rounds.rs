//! The document's loop, command by command, with its example outputs from a real run.

use super::*;

const DECOMPOSED: &str = "\
DECOMPOSE COMPLETE

Items created: 3
- plan-001: Verify milestone definitions (scope: *)
- plan-002: Check acceptance criteria (scope: milestone:M1)
- plan-003: Check acceptance criteria of M2 (scope: milestone:M2)

NEXT: Invoke verifiers for each item. Run: countersign qr verify --reviewer REVIEWER --state-dir state --phase plan-code
";

const FAILED: &str = "\
VERIFICATION COMPLETE

Status: FAIL
Items: 3 total, 2 PASS, 1 FAIL
Failed items:
- plan-002: Acceptance criteria missing for M1

NEXT: Invoke fixer with failed items. Run: countersign qr execute --qr-fail --state-dir state --phase plan-code
";

const GUIDANCE: &str = "\
FIX GUIDANCE

Item plan-002: Acceptance criteria missing for M1
Scope: milestone:M1
Fix: Add acceptance criteria to M1.
  Include:
  - Success conditions

NEXT: Apply the fixes, then say so. Run: countersign qr fixed --state-dir state --phase plan-code
";

const PASSED: &str = "\
VERIFICATION COMPLETE

Status: PASS
Items: 3 total, 3 PASS, 0 FAIL

NEXT: Continue to next phase. Run: countersign qr execute --state-dir state --phase plan-docs
";

/// The whole loop, the same for whoever answers: `reviewer` names who does in a round.
fn whole_loop(project: &Project, reviewer: impl Fn(u32) -> String) {
    let by = |round: u32, words: &[&str]| qr(project, &[words, &["--reviewer", &reviewer(round)]].concat());
    let said = DECOMPOSED.replace("REVIEWER", &reviewer(1));
    assert_eq!(by(1, &["decompose", "--artifact", "plan.md"]).exits(0).stdout, said);
    by(1, &["decompose", "--artifact", "plan.md"]).exits(2);
    assert_eq!(by(1, &["verify"]).exits(1).stdout, FAILED);
    qr(project, &["gate"]).exits(1);
    assert_eq!(by(1, &["fix"]).exits(0).stdout, GUIDANCE);
    project.write("plan.md", PLAN.replace("BAD", "good"));
    qr(project, &["fixed", "--files", "plan.md"]).exits(0);
    assert_eq!(state(project)["iteration"], 2);
    assert_eq!(by(2, &["verify"]).exits(0).stdout, PASSED);
    qr(project, &["gate"]).exits(0);
}

/// QR-2, QR-3, QR-4, QR-14.
#[test]
fn qr_2_3_4_14_one_must_fails_is_fixed_and_passes_by_a_program() {
    let project = project();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, &Says::default(), "");
    whole_loop(&project, |_| judge.name().to_owned());
    let ids = asked(&project);
    assert_eq!(ids[..2], ["", "plan-001"], "what is about everything is first");
    assert_eq!(state(&project)["items"][1]["severity"], "MUST", "no verifier lowers a severity");
    // What questions cost counts, also of those that are no reviews.
    let costs = project.run(&["costs", "--json"]).exits(0).json();
    assert_eq!(costs["total"]["questions"], ids.len(), "{costs}");
}

/// QR-2, QR-3, QR-4, QR-14.
#[test]
fn qr_2_3_4_14_one_must_fails_is_fixed_and_passes_by_a_recording() {
    let project = project();
    project.write("plan.md", PLAN);
    let says = Says::default();
    for round in [1, 2] {
        let ruling = |id: &str, passed: bool| {
            let feedback = (!passed).then_some("Acceptance criteria missing for M1");
            json!({ "criterion": id, "passed": passed, "feedback": feedback }).to_string()
        };
        let lines = [
            json!({ "consult": "decompose:plan-code", "reply": says.items }).to_string(),
            json!({ "consult": "fix:plan-code", "reply": says.fixes }).to_string(),
            ruling("plan-001", true),
            ruling("plan-002", round == 2),
            ruling("plan-003", true),
        ];
        project.write(&format!("replay-{round}.jsonl"), lines.join("\n"));
    }
    whole_loop(&project, |round| format!("replay:replay-{round}.jsonl"));
}

#[test]
fn what_is_as_it_was_is_not_asked_again() {
    let (project, judge) = decomposed_by(&Says::default(), "");
    qr(&project, &verify(&judge)).exits(1);
    assert_eq!(asked(&project).len(), 3);
    qr(&project, &verify(&judge)).exits(1);
    assert_eq!(asked(&project), [""; 0], "a failure stands on unchanged bytes");
    // M1 and the whole changed, M2 did not.
    project.write("plan.md", PLAN.replace("BAD", "good"));
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["TODO", "TODO", "PASS"]);
    qr(&project, &verify(&judge)).exits(0);
    assert_eq!(asked(&project), ["plan-001", "plan-002"]);
}

#[test]
fn only_what_blocks_in_this_round_is_asked_and_named_items_always() {
    let (project, judge) = decomposed_by(&Says::default(), "");
    let text = project.read(super::super::FILE).replace("\n  ]\n", "\n  ],\n  \"iteration\": 5\n");
    project.write(super::super::FILE, text);
    qr(&project, &verify(&judge)).exits(6);
    assert_eq!(asked(&project), ["plan-002"], "from round 5 on only MUST");
    let said = qr(&project, &[&verify(&judge)[..], &["--item", "plan-003"]].concat());
    // Nothing on record led to that round.
    assert!(
        said.stdout.contains("- the file says round 5, but the record says round 1\n"),
        "{}",
        said.stdout
    );
    assert_eq!(asked(&project), ["plan-003"]);
    let said = qr(&project, &[&verify(&judge)[..], &["--item", "plan-9"]].concat()).exits(2);
    assert!(said.stderr.contains("no item has the id `plan-9`"), "{}", said.stderr);
}

/// The file is another one while what comes before it is judged, and the first one again afterwards.
#[test]
fn a_pass_stands_for_the_bytes_that_were_judged() {
    let says = Says {
        items: json!({ "items": [
            { "scope": "*", "check": "whole", "severity": "MUST" },
            { "scope": "file:b.md", "check": "b", "severity": "MUST" },
        ] }),
        ..Says::default()
    };
    let project = project();
    project.write("plan.md", PLAN.replace("BAD", "good")).write("b.md", "BAD");
    let mends = format!("[ \"$id\" != plan-001 ] || echo fine >'{}'", project.path("b.md").display());
    let judge = reviewer(&project, &says, &mends);
    qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(0);
    qr(&project, &verify(&judge)).exits(0);
    project.write("b.md", "BAD");
    qr(&project, &["fixed", "--files", "plan.md"]).exits(0);
    assert_eq!(statuses(&project), ["TODO", "TODO"], "nobody has judged what is there now");
    project.write("b.md", "fine\n");
    qr(&project, &verify(&judge)).exits(0);
    qr(&project, &["fixed", "--files", "plan.md"]).exits(0);
    assert_eq!(statuses(&project), ["TODO", "PASS"]);
}

/// What a scope showed when it passed is on record, not only for files.
#[test]
fn issue_19_what_is_about_everything_or_a_milestone_keeps_a_digest() {
    let (project, judge) = decomposed_by(&Says::default(), "");
    qr(&project, &verify(&judge)).exits(1);
    // A fix that changed nothing opens nothing but what failed.
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["PASS", "TODO", "PASS"]);
    qr(&project, &verify(&judge)).exits(1);
    // One that changed a milestone opens it, and everything with it.
    project.write("plan.md", PLAN.replace("BAD", "good").replace("fine", "finer"));
    qr(&project, &["fixed"]).exits(0);
    assert_eq!(statuses(&project), ["TODO", "TODO", "TODO"]);
    qr(&project, &verify(&judge)).exits(0);
    let digests: Vec<_> = super::super::notes(&project)
        .into_iter()
        .filter(|(kind, note)| kind == "qr_recorded" && note["status"] == "PASS")
        .map(|(_, note)| note["scope_digest"].is_string())
        .collect();
    assert!(digests.len() >= 4 && digests.iter().all(|is_kept| *is_kept), "{digests:?}");
}
