//! Bad configuration: file, line, column, caret and hint, exit 2, nothing asked, nothing written.

use crate::project;
use countersign_testkit::{Judge, Ran, Running};
use serde_json::Value;

const RULES: &str =
    "rules:\n  - name: docs\n    for: ['*.md']\n    criteria:\n      - {name: Complete, ask: 'Complete?'}\n";
const REVIEWERS: &str = "reviewers: [{name: j, use: command, command: [./judge.sh]}]\n";

/// Runs a review under a configuration; nobody may be asked and nothing may be written.
fn refused(config: &str) -> Ran {
    let project = project();
    let judge = Judge::by_word(&project, "Complete");
    project.write("a.md", "x").write("countersign.yml", config);
    let ran = project.run(&["review"]).exits(2);
    let json = project.run(&["review", "--json"]).exits(2).json();
    assert_eq!(
        (json["outcome"].as_str(), json["error"]["kind"].as_str()),
        (Some("usage"), Some("configuration"))
    );
    for key in ["message", "file", "line", "column"] {
        assert!(!json["error"][key].is_null(), "{key}: {json}");
    }
    project.run(&["validate"]).exits(2);
    assert!(judge.asked().is_empty() && !project.ledger_dir().exists());
    assert_eq!(ran.stdout, "");
    ran
}

/// The message, its place and its hint, with the caret under the place.
#[track_caller]
fn check(config: &str, message: &str, place: &str, hint: &str) {
    let stderr = refused(config).stderr;
    assert!(stderr.starts_with(&format!("error: {message}")), "{stderr}");
    assert!(stderr.contains(&format!("countersign.yml:{place}\n")), "{place}\n{stderr}");
    assert!(stderr.contains('^'), "{stderr}");
    assert!(stderr.contains(hint), "{hint}\n{stderr}");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let base = format!("version: 1\n{REVIEWERS}{RULES}");
    let described = "`countersign help configuration` describes every key";
    check(
        &base.replace("    criteria:", "    guidence: x\n    criteria:"),
        "unknown key `guidence`",
        "6:5",
        "did you mean `guidance`?",
    );
    let double = format!("{base}      - {{name: '**complete:**', ask: y}}\n");
    check(
        &double,
        "the criterion on line 7 already has the name `Complete`, which is the same as `**complete:**`",
        "8:16",
        described,
    );
    check(&format!("{base}version: 1\n"), "the key `version` is given twice", "8:1", "keep one of the two");
    let none = format!("version: 1\n{REVIEWERS}rules:\n  - {{name: docs, for: ['*.md'], criteria: []}}\n");
    check(&none, "`criteria` is empty, so the rule asks nothing", "4:43", "give at least one");
    let range = "must be a whole number from 1 to 4294967295";
    check(
        &format!("{base}policy: {{max_attempts: -1}}\n"),
        &format!("`max_attempts` {range}, not -1"),
        "8:24",
        described,
    );
    check(
        &format!("{base}limits: {{prompt_bytes: 0}}\n"),
        &format!("`prompt_bytes` {range}, not 0"),
        "8:24",
        described,
    );
    let unmatched = base.replace("*.md", "docs/*.rst");
    check(
        &unmatched,
        "rule 'docs' matches no file of the project",
        "5:11",
        "patterns are relative to the project root",
    );
    check("version: 1\nrules: [\n", "unclosed bracket", "2:8", described);
}

#[test]
fn a_yaml_bomb_is_refused_at_once() {
    let mut bomb = String::from("version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let last = format!("*a{}", i - 1);
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![last; 10].join(", ")));
    }
    refused(&bomb);
}

#[test]
fn all_mistakes_are_reported_not_only_the_first() {
    let config = format!("version: 1\n{REVIEWERS}{RULES}policy: {{max_attempts: -1, overides: allow}}\n");
    let stderr = refused(&config).stderr;
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
    assert!(stderr.contains("did you mean `overrides`?"), "{stderr}");
}

#[test]
fn the_command_line_is_held_to_the_same() {
    let project = project();
    project.write("a.md", "x");
    // No program is to be found by chance.
    let said = |args: &[&str]| Running::start(project.command(args).env("PATH", "")).wait().exits(2).stderr;
    assert!(said(&["review"]).contains("--criterion NAME=QUESTION"));
    assert!(said(&["review", "a.md"]).contains("criterion 'Complete' of rule 'change' needs a reviewer"));
    assert!(said(&["review", "a.md", "--criterion", "Complete"]).contains("is not NAME=QUESTION"));
    assert!(
        said(&["review", "a.md", "--criterion", "A=?", "--criterion", "**a:**=?"])
            .contains("has the same name")
    );
    assert!(said(&["review", "a.md", "--criterion", "A=?"]).contains("needs a reviewer"));
    assert!(
        said(&["review", "a.md", "--criterion", "A=?", "--reviewer", "nobody"])
            .contains("no reviewer is called `nobody`")
    );
    assert!(said(&["review", "--criterion", "A=?"]).contains("needs PATHS"));
    assert!(said(&["review", "a.md", "--each-file"]).contains("--criterion"));
    assert!(
        said(&["review", "a.md", "--criterion", "A=?", "--reviewer", "replay:none.jsonl"])
            .contains("none.jsonl")
    );
    assert!(said(&["show"]).contains("nothing has been judged"));
    assert!(said(&["frobnicate"]).contains("unrecognized subcommand"));
    let json = project.run(&["frobnicate", "--json"]).exits(2).json();
    assert_eq!(json["error"]["kind"], "usage");
}

#[test]
fn valid_configuration_says_so_and_settings_name_their_origin() {
    let project = project();
    Judge::by_word(&project, "Complete");
    project
        .write("countersign.yml", format!("version: 1\n{REVIEWERS}{RULES}policy: {{max_attempts: 4}}\n"))
        .write("a.md", "x");
    let ran = project.run(&["validate"]).exits(0);
    assert!(ran.stdout.ends_with("1 rule, 1 criterion, 1 reviewer: valid\n"), "{}", ran.stdout);
    let shown = project.run(&["config", "--show-origin"]).exits(0).stdout;
    let line = shown.lines().find(|line| line.starts_with("policy.max_attempts")).unwrap();
    assert!(line.contains("= 4") && line.contains("countersign.yml:8"), "{shown}");
    assert!(
        shown.lines().any(|line| line.starts_with("policy.reuse_days = 30") && line.contains("default")),
        "{shown}"
    );
    let schema = project.run(&["config", "--schema"]).exits(0).json();
    assert_eq!(schema["type"], "object");
    assert!(!project.ledger_dir().exists());
}

/// What is quoted of a file may end in somebody's log.
#[test]
fn a_key_that_was_written_down_is_not_repeated() {
    for (reviewer, hidden, words) in [
        ("base_url: 'http://me:pw-7@x/v1'", "pw-7", "contains a user name or password"),
        ("key_env: 'word-of-mine'", "word-of-mine", "is the name of a variable"),
        ("key: 'sk-proj-abcdefghij0123456789ABCDEFGHIJ'", "abcdefghij0123456789", "unknown key `key`"),
    ] {
        let project = project();
        project.write("a.md", "text");
        let config = format!(
            "version: 1\nreviewers: [{{name: a, use: openai, model: m, {reviewer}}}]\n\
             rules: [{{name: r, for: ['*.md'], criteria: [{{name: A, ask: 'a?'}}]}}]\n"
        );
        project.write("countersign.yml", config);
        for args in [&["validate"][..], &["review"], &["validate", "--json"]] {
            let ran = project.run(args).exits(2);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(words) && !said.contains(hidden), "{said}");
        }
        let quoted = project.run(&["validate"]).stderr;
        assert!(quoted.contains("***") && quoted.contains("name: a, use: openai"), "{quoted}");
    }
}

#[test]
fn issue_19_a_file_that_is_missing_or_empty_has_no_line_to_point_at() {
    let project = project();
    project.write("a.md", "x").write("empty.yml", "");
    for (file, words) in
        [("nofile", "cannot be read: No such file or directory"), ("empty.yml", "the file is empty")]
    {
        for command in ["review", "validate", "status"] {
            let stderr = project.run(&[command, "--config", file]).exits(2).stderr;
            assert!(stderr.contains(words) && stderr.contains(file), "{command}: {stderr}");
            assert!(!stderr.contains('^') && !stderr.contains(":1:1"), "{command}: {stderr}");
            let json = project.run(&[command, "--config", file, "--json"]).exits(2).json();
            assert_eq!((&json["error"]["line"], &json["error"]["column"]), (&Value::Null, &Value::Null));
        }
        let text = project.run(&["doctor", "--config", file]).exits(2).stdout;
        assert!(
            text.contains(words) && !text.contains(":1:1") && !text.contains("shows the place"),
            "{text}"
        );
    }
    let stderr = project.run(&["validate"]).exits(2).stderr;
    assert!(stderr.contains("there is no configuration") && !stderr.contains('^'), "{stderr}");
}
