//! The object for programs: every key always there.

use crate::{COMPLETE, project};
use countersign_testkit::Judge;
use serde_json::Value;

const ENVELOPE: [&str; 7] = ["schema", "command", "outcome", "reason", "exit_code", "error", "warnings"];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_command_answers_in_the_same_envelope() {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let review = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
    let answers = [
        project.run(&review),
        project.run(&[&review[..], &["--dry-run"]].concat()),
        project.run(&["show", "--json"]),
        project.run(&["log", "--json"]),
        project.run(&["status", "--json"]),
        project.run(&["config", "--json"]),
        project.run(&["validate", "--json"]),
        project.run(&["show", "rv-nothing", "--json"]),
        project.run(&["completions", "bash", "--json"]),
        project.run(&["init", "--dry-run", "--json"]),
        project.run(&["doctor", "--json"]),
    ];
    for ran in answers {
        let json = ran.json();
        for key in ENVELOPE {
            assert!(keys(&json).contains(&key), "{key}: {json}");
        }
        assert_eq!(
            (json["schema"].as_str(), json["exit_code"].as_i64()),
            (Some("countersign/1"), Some(i64::from(ran.code)))
        );
        assert_eq!(ran.stdout.lines().count(), 1, "one object on one line");
    }
}

#[test]
fn a_verdict_has_all_its_keys() {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let json = project
        .run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"])
        .exits(1)
        .json();
    for key in ["review", "findings", "waived", "assignments", "cost", "next"] {
        assert!(keys(&json).contains(&key), "{key}");
    }
    let finding = &json["findings"][0];
    assert_eq!(
        keys(finding),
        [
            "criterion",
            "feedback",
            "file",
            "findings",
            "id",
            "question",
            "reviewer",
            "rule",
            "severity",
            "target"
        ]
    );
    assert!(finding["id"].as_str().unwrap().starts_with("fi-"));
    assert!(json["cost"]["usd"].is_null(), "unknown is unknown and not zero");
    assert!(json["review"]["opened_at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn a_dry_run_shows_each_question_and_asks_nobody() {
    let project = project();
    project.write("a.md", "one").write("b.md", "two");
    let judge = Judge::by_word(&project, "Complete");
    let args = [
        "review",
        "a.md",
        "b.md",
        "--each-file",
        "--criterion",
        COMPLETE,
        "--reviewer",
        judge.name(),
        "--dry-run",
        "--json",
    ];
    let before = project.run(&args).exits(0).json();
    let first = &before["assignments"][0];
    for key in ["files", "key", "timeout_seconds", "system_prompt", "payload", "schema", "known"] {
        assert!(!first[key].is_null(), "{key}");
    }
    assert_eq!((first["known"].as_bool(), first["timeout_seconds"].as_u64()), (Some(false), Some(240)));
    assert!(
        first["payload"].as_str().unwrap().contains("-------------------- a.md --------------------\none\n")
    );
    assert!(judge.asked().is_empty() && !project.ledger_dir().exists(), "nothing is written");
    project.run(&args[..8]).exits(0);
    let after = project.run(&args).exits(0).json();
    assert_eq!(after["assignments"][0]["known"], true);
    assert_eq!(after["assignments"][0]["key"], first["key"]);
    let text = project.run(&args[..args.len() - 1]).exits(0).stdout;
    assert!(text.ends_with("0 free checks, 2 cached\n"), "{text}");
}

/// An answer nobody read is not delivered: the same work gets it again, and no attempt is lost.
#[test]
fn a_reader_that_hangs_up_costs_nothing() {
    let project = project();
    project.write("a.md", "BAD");
    let judge = Judge::by_word(&project, "Complete");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let mut child = project
        .command(&args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let json = project.run(&args).exits(1).json();
    assert_eq!((json["review"]["round"].as_u64(), json["review"]["attempts"].as_u64()), (Some(1), Some(1)));
    let json = project.run(&args).exits(1).json();
    assert_eq!(json["review"]["attempts"], 2);
}
