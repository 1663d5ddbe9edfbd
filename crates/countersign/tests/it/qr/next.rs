//! The NEXT lines: each names a command that works as it stands, here and now; errors have one too.

use super::asked::{PLAN, Says, reviewer};
use super::{FILE, args, decomposed, plain_items, project, qr};
use countersign_testkit::{Project, Ran, Running};
use serde_json::json;

/// The command of the NEXT line, as its words.
fn next(text: &str) -> Vec<String> {
    let line = text.lines().rev().find(|line| line.contains("NEXT: ")).unwrap_or_else(|| panic!("{text}"));
    let (_, command) = line.split_once(" Run: countersign ").unwrap_or_else(|| panic!("{text}"));
    command.split(' ').map(str::to_owned).collect()
}

/// Runs the command of the NEXT line of an answer. Items come from standard input where it says so.
fn follow(project: &Project, ran: &Ran) -> Ran {
    let words = next(&ran.stdout);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let again = match words.contains(&"-") {
        true => Running::fed(&mut project.command(&words), plain_items(2).to_string().as_bytes()).wait(),
        false => project.run(&words),
    };
    assert!([0, 1].contains(&again.code), "{words:?} after\n{}: {again:?}", ran.stdout);
    again
}

#[test]
fn issue_19_every_next_line_works_here_and_now_without_a_reviewer() {
    let project = crate::project();
    let mut ran = project.run(&["qr", "init", "--state-dir", "state"]).exits(0);
    let mut seen = vec![];
    for _ in 0..6 {
        seen.push(next(&ran.stdout)[1].clone());
        ran = follow(&project, &ran);
    }
    assert_eq!(seen, ["execute", "decompose", "record", "record", "gate", "execute"]);
    assert!(ran.stdout.contains("Phase: plan-code\n"), "{}", ran.stdout);
}

#[test]
fn issue_19_every_next_line_works_here_and_now_after_a_failure() {
    let project = project();
    project.write("plan.md", PLAN);
    let judge = reviewer(&project, &Says::default(), "");
    let mut ran = qr(&project, &["decompose", "--artifact", "plan.md", "--reviewer", judge.name()]).exits(0);
    let mut seen = vec![];
    for _ in 0..4 {
        seen.push(next(&ran.stdout)[1].clone());
        ran = follow(&project, &ran);
    }
    // No reviewer is configured, and the commands after the first two were given none.
    assert_eq!(seen, ["verify", "execute", "fixed", "record"]);
    let last = project.run(&["qr", "gate", "--state-dir", "state", "--phase", "impl-docs"]);
    assert_eq!(next(&last.stdout)[1], "decompose");
    // The last phase of all names the plan that is known.
    let items = json!({ "items": [{ "scope": "*", "check": "c" }] });
    project.write("items.json", items.to_string()).write(
        "countersign.yml",
        format!(
            "version: 1\nqr: {{state_dir: state}}\nreviewers: [{{name: j, use: command, command: [{}]}}]\n",
            judge_path(&project)
        ),
    );
    let end = |words: &[&str]| project.run(&[&["qr"], words, &["--phase", "impl-docs"]].concat());
    end(&["decompose", "--items", "items.json", "--artifact", "plan.md"]).exits(0);
    let ran = end(&["record", "impl-001", "PASS"]).exits(0);
    let ran = follow(&project, &ran);
    assert_eq!(next(&ran.stdout)[1..4], ["reconcile", "--plan", "plan.md"]);
}

fn judge_path(project: &Project) -> String {
    project.judges().join("judge.sh").display().to_string()
}

#[test]
fn issue_19_errors_name_the_next_command_too() {
    let project = decomposed(&plain_items(2));
    for (words, state_dir, says) in [
        (&["gate", "--no-such"][..], "state", None),
        (
            &["verify"],
            "nowhere",
            Some("NEXT: Make the state directory. Run: countersign qr init --state-dir nowhere"),
        ),
        (
            &["record", "plan-009", "PASS"],
            "state",
            Some("NEXT: Look at the phase. Run: countersign qr status --state-dir state --phase plan-code"),
        ),
        (
            &["verify"],
            "state",
            Some("NEXT: Look at the phase. Run: countersign qr status --state-dir state --phase plan-code"),
        ),
        (
            &["decompose", "--items", "items.json"],
            "state",
            Some(
                "NEXT: Invoke verifiers for each item. Record each result, PASS or FAIL --finding TEXT. Run: countersign qr record plan-001 PASS --round 1 --state-dir state --phase plan-code",
            ),
        ),
    ] {
        let ran =
            project.run(&[&["qr"], words, &["--state-dir", state_dir, "--phase", "plan-code"]].concat());
        assert!(ran.code > 1, "{ran:?}");
        if let Some(says) = says {
            assert!(ran.stderr.contains(says), "{words:?}: {}", ran.stderr);
        }
    }
    project.write(FILE, "{");
    let ran = qr(&project, &["gate"]).exits(2);
    assert!(ran.stderr.contains("Run: countersign validate state/qr-plan-code.json"), "{}", ran.stderr);
    let ran = project.run(&["qr", "gate", "--phase", "plan-code"]).exits(2);
    assert!(ran.stderr.contains("Run: countersign qr init --state-dir plan-state"), "{}", ran.stderr);
}

#[test]
fn issue_19_a_result_of_another_round_is_refused() {
    let project = decomposed(&plain_items(2));
    qr(&project, &["record", "plan-001", "FAIL", "--finding", "x", "--round", "1"]).exits(0);
    qr(&project, &["fixed"]).exits(0);
    let before = project.read(FILE);
    for (words, code) in [
        (&["record", "plan-001", "PASS", "--round", "1"], 2),
        (&["record", "plan-002", "PASS", "--round", "3"], 2),
        (&["record", "plan-001", "PASS", "--round", "0"], 2),
    ] {
        let ran = project.run(&args(words)).exits(code);
        assert_eq!(project.read(FILE), before, "{ran:?}");
    }
    let ran = qr(&project, &["record", "plan-001", "PASS", "--round", "1"]).exits(2);
    assert!(
        ran.stderr.contains("the ruling is about round 1, but the phase is in round 2"),
        "{}",
        ran.stderr
    );
    qr(&project, &["record", "plan-001", "PASS", "--round", "2"]).exits(0);
}

#[test]
fn issue_19_a_configuration_with_only_qr_is_valid() {
    let project = crate::project();
    project.write("countersign.yml", "version: 1\nqr: {state_dir: state}\n");
    project.run(&["validate"]).exits(0);
    project.run(&["qr", "init"]).exits(0);
    project.run(&["qr", "gate", "--phase", "plan-code"]).exits(4);
    // It asks nothing about files, and says so.
    project.write("a.md", "text\n");
    let ran = project.run(&["review", "a.md", "--reviewer", "command:true"]).exits(2);
    assert!(ran.stderr.contains("countersign.yml has no rules"), "{}", ran.stderr);
    project.write("countersign.yml", "version: 1\npolicy: {max_attempts: 3}\n");
    let ran = project.run(&["validate"]).exits(2);
    assert!(ran.stderr.contains("has no `rules`"), "{}", ran.stderr);
}
