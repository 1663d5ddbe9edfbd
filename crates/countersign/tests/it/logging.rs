//! The log: off unless asked for, in text or JSON, without a word of the work.

use crate::run::kit::{Kit, ONE};
use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project};
use serde_json::Value;

fn judged() -> (Project, Vec<String>) {
    let project = project();
    project.write("a.md", "a BAD word of the work\n");
    let judge = Judge::by_word(&project, "Complete");
    let args = ["review", "a.md", "--quiet", "--criterion", COMPLETE, "--reviewer", judge.name()];
    let args = args.map(str::to_owned).to_vec();
    (project, args)
}

/// What goes to standard error with these variables and flags.
fn logged(variables: &[(&str, &str)], flags: &[&str]) -> String {
    let (project, args) = judged();
    let args: Vec<&str> = args.iter().map(String::as_str).chain(flags.iter().copied()).collect();
    let ran = project.command(&args).envs(variables.iter().copied()).output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "a log does not decide how a command ends");
    String::from_utf8(ran.stderr).unwrap()
}

#[test]
fn nothing_is_logged_unless_asked_for() {
    assert_eq!(logged(&[], &[]), "");
    assert_eq!(logged(&[("COUNTERSIGN_LOG", "")], &[]), "");
    assert_eq!(logged(&[("COUNTERSIGN_LOG", "off")], &["-vv"]), "");
}

#[test]
fn spans_of_reviews_calls_and_processes_are_logged_without_the_work() {
    let lines = logged(&[], &["-v"]);
    assert!(lines.contains("review{id=rv-") && lines.contains("call{id="), "{lines}");
    assert!(!lines.contains("process{"), "{lines}");
    for (variables, flags) in [(&[][..], &["-vv"][..]), (&[("COUNTERSIGN_LOG", "debug")][..], &[][..])] {
        let lines = logged(variables, flags);
        assert!(lines.contains("process{program="), "{lines}");
        assert!(!lines.contains("word of the work") && !lines.contains("Is it complete?"), "{lines}");
    }
}

#[test]
fn json_is_an_object_a_line() {
    let lines = logged(&[("COUNTERSIGN_LOG", "info"), ("COUNTERSIGN_LOG_FORMAT", "json")], &[]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = lines.iter().find(|line| line["message"] == "asked").unwrap();
    assert_eq!(asked["spans"].as_array().unwrap().len(), 2, "a call in a review: {asked}");
}

#[test]
fn what_cannot_be_understood_is_said_and_logs_nothing() {
    for variables in [
        [("COUNTERSIGN_LOG", "loud"), ("COUNTERSIGN_LOG_FORMAT", "json")],
        [("COUNTERSIGN_LOG", "info"), ("COUNTERSIGN_LOG_FORMAT", "xml")],
    ] {
        let lines = logged(&variables, &[]);
        assert!(lines.ends_with("nothing is logged\n") && lines.lines().count() == 1, "{lines}");
    }
}

#[test]
fn issue_15_9_a_run_and_the_reviews_of_its_tasks_are_one_stream() {
    let kit = Kit::new(ONE, "");
    let log = kit.run(&["run", "--all", "--quiet", "-v"]).exits(0).stderr;
    let mut rest = log.as_str();
    for what in [
        "task begins",
        "stage=\"agent\"",
        "round begins",
        "asked",
        "answered",
        "stage=\"merge\"",
        "task done",
    ] {
        let (_, after) = rest.split_once(what).unwrap_or_else(|| panic!("{what} in its turn: {log}"));
        rest = after;
    }
}
