//! `qr loop`: the whole of it in one command, with every way it can end.

use super::*;
use countersign_testkit::{Running, eventually};

/// A project with the plan and the usual reviewer, and a loop on it with this fixer.
fn run(fixer: &str, more: &[&str]) -> (Project, countersign_testkit::Ran) {
    let project = crate::project().judged_from_outside();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, &Says::default(), "");
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", fixer, "--reviewer", judge.name()];
    let ran = project.run(&[&words, more].concat());
    (project, ran)
}

const FIXER: &str = "#!/bin/sh\ncat >>fixer-read\nprintf '%s' \"$COUNTERSIGN_CALL\" >fixer-call\nsed -i s/BAD/good/ plan.md\n";

/// A project with an executable fixer.
fn fixer(project: &Project, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    project.write("fixer.sh", script);
    std::fs::set_permissions(project.path("fixer.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// QR-13, QR-14.
#[test]
fn qr_13_14_the_loop_ends_when_the_gate_passes() {
    let project = crate::project().judged_from_outside();
    project.write("plan.md", PLAN);
    fixer(&project, FIXER);
    let judge = reviewer(&project, &Says::default(), "");
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", "./fixer.sh", "--reviewer", judge.name()];
    let ran = project.run(&words).exits(0);
    assert!(ran.stdout.contains("Status: PASS\nItems: 3 total, 3 PASS, 0 FAIL\n"), "{}", ran.stdout);
    for words in ["decomposing the work into items", "round 1: 3 total, 2 PASS, 1 FAIL", "round 2 begins"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let read = project.read("fixer-read");
    assert!(
        read.starts_with(
            "FIX GUIDANCE\n\nItem plan-002: Acceptance criteria missing for M1\nScope: milestone:M1\nFix: Add"
        ),
        "{read}"
    );
    assert!(!read.contains("NEXT:") && !read.contains("plan-003"), "{read}");
    assert_eq!(project.read("fixer-call"), "qr-loop");
    // It is over: the same command asks nobody and fixes nothing.
    asked(&project);
    project.run(&words).exits(0);
    assert_eq!(asked(&project), [""; 0]);
    // Another plan is another loop, and what passed does not stand for what is there now.
    project.write("plan.md", PLAN.replace("fine", "finer"));
    project.write("fixer.sh", "#!/bin/sh\nexit 1\n");
    project.run(&words).exits(4);
    assert_eq!(asked(&project)[..1], ["plan-001"]);
    project.write("other.md", PLAN);
    let other = words.map(|word| if word == "plan.md" { "other.md" } else { word });
    project.run(&other).exits(4);
    assert_eq!(asked(&project)[..1], [""], "it is broken into items first");
}

/// The state file of the only loop of a project.
fn state_file(project: &Project) -> String {
    let states = std::fs::read_dir(project.ledger_path("qr/state")).unwrap();
    let [only] = &states.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()[..] else { panic!() };
    std::fs::read_to_string(only.join("qr-plan-structure.json")).unwrap()
}

#[test]
fn a_fixer_that_mends_nothing_ends_at_the_ceiling() {
    let (_, ran) = run("true", &["--json"]);
    let json = ran.exits(6).json();
    assert_eq!(
        (&json["round"], &json["gate"], &json["fixes"]),
        (&json!(5), &json!("ceiling"), &json!(4)),
        "{json}"
    );
    assert!(json["next"].as_str().unwrap().starts_with("NEXT: Ask a person"), "{json}");
}

#[test]
fn slow_a_fixer_that_fails_is_named_and_the_round_stays() {
    for (fixer, more, words) in [
        ("false", vec![], "the fixer `false` ended with exit code 1"),
        ("no-such-program-here", vec![], "could not be started"),
        ("sleep 600", vec!["--fixer-timeout-seconds", "1"], "did not end within 1 s"),
    ] {
        let (project, ran) = run(fixer, &more);
        let ran = ran.exits(4);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        let state = state_file(&project);
        assert!(!state.contains("iteration") && state.contains("\"FAIL\""), "{state}");
    }
}

#[test]
fn a_loop_without_a_ruling_stops_and_says_so() {
    let project = crate::project().judged_from_outside();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, &Says::default(), "[ \"$id\" != plan-003 ] || exit 9");
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", "true", "--reviewer", judge.name()];
    let ran = project.run(&words).exits(4);
    assert!(ran.stderr.contains("plan-003 has no ruling (unavailable)"), "{}", ran.stderr);
    assert!(ran.stdout.contains("3 total, 1 PASS, 1 FAIL, 1 TODO"), "{}", ran.stdout);
}

#[test]
fn what_somebody_changed_between_two_loops_is_looked_at_again() {
    let (project, ran) = run("false", &[]);
    ran.exits(4);
    // M1 is mended by hand, and M2, which had passed, is broken.
    project.write("plan.md", PLAN.replace("BAD", "good").replace("fine", "BAD"));
    asked(&project);
    let judge = format!("command:{}", project.judges().join("judge.sh").display());
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", "false", "--reviewer", &judge];
    let ran = project.run(&words).exits(4);
    assert!(ran.stderr.contains("round 1: 3 total, 2 PASS, 1 FAIL"), "{}", ran.stderr);
    assert!(asked(&project).contains(&"plan-003".to_owned()));
}

#[test]
fn a_file_that_is_no_artifact_is_looked_at_again_too() {
    let project = crate::project().judged_from_outside();
    project.write("plan.md", PLAN.replace("BAD", "good")).write("b.md", "fine");
    let items = json!({ "items": [{ "id": "b", "scope": "file:b.md", "check": "b", "severity": "MUST" }] });
    let judge = reviewer(&project, &Says { items, ..Says::default() }, "");
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", "false", "--reviewer", judge.name()];
    project.run(&words).exits(0);
    asked(&project);
    project.run(&words).exits(0);
    assert_eq!(asked(&project), [""; 0], "it is as it was");
    project.write("b.md", "BAD");
    project.run(&words).exits(4);
    assert_eq!(asked(&project)[..1], ["b"]);
    std::fs::remove_file(project.path("b.md")).unwrap();
    let ran = project.run(&words).exits(2);
    assert!(ran.stderr.contains("there is no file `b.md`"), "{}", ran.stderr);
}

/// Nothing but a recorded fix begins a round, so no number of interruptions uses them up.
#[test]
fn issue_19_an_interrupted_loop_begins_no_round() {
    let project = crate::project().judged_from_outside();
    project.write("plan.md", PLAN);
    fixer(&project, FIXER);
    let [pipe, waits, goes] = ["pipe", "waits", "goes"].map(|name| project.path(name).display().to_string());
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let wait = format!(
        "if [ \"$id\" = plan-003 ] && [ ! -e '{goes}' ]; then : >'{waits}'; read -r line <'{pipe}'; fi"
    );
    let judge = reviewer(&project, &Says::default(), &wait);
    let words = ["qr", "loop", "--artifact", "plan.md", "--fixer", "./fixer.sh", "--reviewer", judge.name()];
    for _ in 0..3 {
        let _ = std::fs::remove_file(&waits);
        let mut running = Running::start(&mut project.command(&words));
        eventually("an item is being verified", || project.path("waits").exists());
        eventually("another one failed", || state_file(&project).contains("\"FAIL\""));
        running.kill();
        running.wait();
    }
    assert!(!state_file(&project).contains("iteration"), "{}", state_file(&project));
    project.write("goes", "");
    let ran = project.run(&words).exits(0);
    for said in ["round 1: 3 total, 2 PASS, 1 FAIL", "round 2 begins", "round 2: 3 total, 3 PASS"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

/// kill -9 at every write: the same command again ends as if nothing had happened, and has used no round that no fix
/// began.
#[test]
fn slow_issue_19_a_loop_killed_at_any_write_uses_no_round_without_a_fix() {
    let mut deaths = 0;
    for write in 1.. {
        let project = crate::project().judged_from_outside();
        project.write("plan.md", PLAN);
        fixer(&project, &FIXER.replace("#!/bin/sh\n", "#!/bin/sh\necho >>fixed\n"));
        let judge = reviewer(&project, &Says::default(), "");
        let words =
            ["qr", "loop", "--artifact", "plan.md", "--fixer", "./fixer.sh", "--reviewer", judge.name()];
        let mut command = project.command(&words);
        let moment = write.to_string();
        let ran = Running::start(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment)).wait();
        if ran.code != -1 {
            assert_eq!(ran.code, 0, "{ran:?}");
            break;
        }
        deaths += 1;
        let ran = project.run(&words).exits(0);
        let state: Value = serde_json::from_str(&state_file(&project)).unwrap();
        let rounds = state["iteration"].as_u64().unwrap_or(1);
        let fixes = project.read("fixed").lines().count();
        assert!(fixes == 1 && rounds <= 2, "{moment}: {fixes} fixes, round {rounds}: {ran:?}");
        project.run(&["log", "--verify"]).exits(0);
    }
    assert!(deaths >= 10, "{deaths}");
}
