//! Getting new work accepted like old work: exceptions, the baseline, places, and parts of the rules.

use crate::kit::{Case, judged, row};
use serde_json::json;

/// A judge that blames one line, and says that the change did not cause it.
const EXCUSING: &str = r#"import json, sys
brief = json.load(sys.stdin)
bad = "BAD" in brief["payload"]
finding = {"message": "there is a BAD word", "file": "a.md", "line": LINE, "caused_by_change": False}
ruling = {"criterion": "Complete", "passed": not bad, "feedback": None, "findings": [finding] if bad else []}
print(json.dumps({"passed": not bad, "feedback": "f", "criteria_results": [ruling]}))
"#;

/// A project that a person trusts, whose judge blames this line of `a.md`.
fn excused(line: usize, text: &str) -> Case {
    let case = Case::untrusted();
    case.project.write("judge.py", EXCUSING.replace("LINE", &line.to_string())).write("a.md", text);
    case.repository.commit("the judge");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "topic"]);
    case
}

#[test]
fn attack_20_an_exception_that_is_added_in_the_same_change() {
    let case = excused(2, "one\n");
    for reason in ["because it is fine", "because the person said so"] {
        let text = format!("<!-- countersign: allow r/Complete {reason} -->\nBAD\n");
        case.project.write("a.md", text);
        let ran = case.gate();
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.stdout.contains("new, a person has the last word"), "{ran:?}");
        case.repository.commit("with an exception");
        assert_eq!(case.gate().code, 3);
        assert!(!case.hook().stdout.contains("\"decision\":\"approve\""));
    }
    // A branch of its own as the base is not believed.
    case.repository.git(["branch", "mine"]);
    assert_eq!(case.gate_with(&["--base", "mine"], |_| {}).code, 3);
    row(
        "an exception is added in the same change",
        "review --gate, hook",
        "waits for a person",
        "the exception",
    );
}

#[test]
fn attack_20_a_baseline_that_is_edited_in_the_same_change() {
    let case = excused(1, "one\n");
    case.project.write("a.md", "BAD\n");
    let failed = case.agent(&["review", "--change", "--gate", "--json"]).output().unwrap();
    let failed: serde_json::Value = serde_json::from_slice(&failed.stdout).unwrap();
    let finding = &failed["findings"][0]["findings"][0];
    let entry = json!({
        "file": "a.md", "rule": "r", "criterion": "Complete", "message": "m", "fingerprint": finding["fingerprint"],
    });
    let file = json!({ "version": 1, "findings": [entry] }).to_string();
    case.project.write("countersign.baseline.json", &file);
    judged(&case.gate());
    case.repository.commit("a baseline");
    judged(&case.gate());
    // Good work does not carry it along either.
    case.project.write("a.md", "good\n");
    let ran = case.gate();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("countersign.baseline.json"), "{ran:?}");
    row("the baseline is edited in the same change", "review --gate", "the trusted one counts", "a warning");
}

#[test]
fn attack_20_a_copy_of_a_line_that_is_in_the_baseline() {
    let old = "one\nBAD words\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n";
    let case = excused(12, old);
    case.project.write("a.md", format!("{old}BAD words\n"));
    let failed = case.agent(&["review", "--change", "--gate", "--json"]).output().unwrap();
    let failed: serde_json::Value = serde_json::from_slice(&failed.stdout).unwrap();
    let entry = json!({
        "file": "a.md", "rule": "r", "criterion": "Complete", "message": "m",
        "fingerprint": failed["findings"][0]["findings"][0]["fingerprint"],
    });
    case.project.write("a.md", old);
    case.repository.git(["checkout", "-q", "main"]);
    case.project.write("countersign.baseline.json", json!({ "version": 1, "findings": [entry] }).to_string());
    case.repository.commit("the baseline");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "copies"]);
    // Other bytes than those that failed: the old line is not seen beside its copy.
    case.project.write("a.md", format!("{old}BAD words\nmore\n"));
    judged(&case.gate());
    row("a copy of a line that is in the baseline", "review --gate", "judged", "the finding");
}

#[test]
fn attack_20_an_exception_of_the_base_is_stretched_over_new_lines() {
    let comment = "<!-- countersign: allow r/Complete because it is old -->";
    let case = excused(2, &format!("{comment}\nBAD words\n"));
    for between in ["BAD new <!-- countersign: allow x/y because z -->", "BAD new"] {
        case.project.write("a.md", format!("{comment}\n{between}\nBAD words\n"));
        let ran = case.gate();
        assert!([1, 3].contains(&ran.code), "{between}: {ran:?}");
    }
    row("an exception of the base is stretched over new lines", "review --gate", "judged", "the exception");
}

#[test]
fn attack_20_a_finding_that_is_said_to_be_there_already() {
    let text = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let old =
        ["one", "BAD", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    // The line was moved down, other lines were moved over it, or it stands in a file with another name.
    let moved =
        ["one", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "BAD", "eleven", "twelve"];
    let over =
        ["three", "BAD", "four", "five", "six", "seven", "eight", "nine", "ten", "one", "eleven", "twelve"];
    for (line, now) in [(10, moved), (2, over)] {
        let case = excused(line, &text(&old));
        case.project.write("a.md", text(&now));
        judged(&case.gate());
    }
    let case = excused(2, "good\n");
    case.project.write("b.md", text(&old));
    case.repository.git(["checkout", "-q", "main"]);
    case.repository.commit("b");
    case.project.trust();
    case.repository.git(["checkout", "-q", "-b", "rename"]);
    case.repository.git(["mv", "-f", "b.md", "a.md"]);
    judged(&case.gate());
    // Where it really was there, it does not block.
    let case = excused(2, &text(&old));
    case.project.write("a.md", text(&old).replace("twelve", "12"));
    assert_eq!(case.gate().code, 0);
    row("a finding in a moved line is said to be there already", "review --gate", "it blocks", "the finding");
}

#[test]
fn attack_20_asking_a_part_of_the_rules() {
    let case = Case::new();
    for part in [&["--rule", "r"][..], &["--checks-only"], &["--criterion", "A=b"]] {
        assert_eq!(case.gate_with(part, |_| {}).code, 2);
    }
    // An own base or index is not the gate's.
    case.repository.git(["add", "a.md"]);
    case.repository.git(["commit", "-q", "-m", "bad work"]);
    judged(&run(&case, &["review", "--gate", "--since", "HEAD"]));
    judged(&run(&case, &["review", "--gate", "--staged", "--base", "HEAD"]));
    let other = case.project.home().join("index");
    let mut command = case.agent(&["review", "--gate", "--staged"]);
    command.env("GIT_INDEX_FILE", &other);
    judged(&countersign_testkit::Running::start(&mut command).wait());
    // What a part passed is not the pass of the gate.
    judged(&case.gate());
    row("a part of the rules, another base or index", "review --gate", "refused, or ignored", "a warning");
}

fn run(case: &Case, args: &[&str]) -> countersign_testkit::Ran {
    countersign_testkit::Running::start(&mut case.agent(args)).wait()
}

#[test]
fn attack_20_excluding_the_work() {
    let case = Case::new();
    let config = case.project.read("countersign.yml");
    case.project.write("countersign.yml", config.replace("rules:", "exclude: ['**']\nrules:"));
    judged(&case.gate());
    case.repository.commit("exclude everything");
    judged(&case.gate());
    row("`exclude` is added in the same change", "review --gate", "the trusted one counts", "a warning");
}
