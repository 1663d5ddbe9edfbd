//! Who is asked: the first that is there, another vendor than the author first, and never somebody else
//! because a verdict is inconvenient.

use crate::project;
use countersign_testkit::{Judge, Project};
use serde_json::Value;

/// A project with two reviewers.
fn two(first: &str, second: &str) -> (Project, Judge, Judge) {
    let project = project();
    project.write("a.md", "text");
    let first = Judge::scripted(&project, "first.sh", first);
    let second = Judge::scripted(&project, "second.sh", second);
    project.write(
        "countersign.yml",
        "version: 1\nreviewers:\n- {name: first, use: command, command: [./first.sh]}\n\
         - {name: second, use: command, command: [./second.sh]}\n\
         rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n",
    );
    (project, first, second)
}

const PASS: &str = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
const FAIL: &str = r#"printf '{"passed": false, "feedback": "no", "criteria_results": [{"criterion": "Complete", "passed": false, "feedback": "no"}]}'"#;
const LIMITED: &str = "echo 'rate limit reached, resets at 5 pm' >&2; exit 1";

#[test]
fn one_that_is_not_there_makes_room_and_the_verdict_names_both() {
    let (project, ..) = two(LIMITED, PASS);
    let text = project.run(&["review"]).exits(0).stdout;
    assert!(text.contains("ruled by second"), "{text}");
    assert!(text.contains("first was not available for 1 question, second answered instead"), "{text}");
    assert!(text.contains("rate limit reached, resets at 5 pm"), "{text}");
    let json = project.run(&["show", "--json"]).json();
    let one = &json["assignments"][0];
    assert_eq!(
        (one["ruled_by"].as_str(), one["not_answered"][0]["reviewer"].as_str()),
        (Some("second"), Some("first"))
    );
    assert_eq!(one["not_answered"][0]["why"], "unavailable");
    assert_eq!((&one["why"], &one["detail"]), (&Value::Null, &Value::Null));
}

#[test]
fn with_all_of_them_down_each_reason_is_told() {
    let (project, ..) = two(LIMITED, "echo 'out of order' >&2; exit 3");
    let run = project.run(&["review"]).exits(4);
    assert!(run.stdout.contains("first: `./first.sh`") || run.stdout.contains("first: `"), "{}", run.stdout);
    assert!(run.stdout.contains("resets at 5 pm") && run.stdout.contains("out of order"), "{}", run.stdout);
    let json = project.run(&["show", "--json"]).json();
    let who: Vec<_> = json["assignments"][0]["not_answered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["reviewer"])
        .collect();
    assert_eq!(who, ["first", "second"]);
}

/// However many questions it is the reason for.
#[test]
fn a_reason_is_told_once() {
    let (project, ..) = two(LIMITED, "echo 'out of order' >&2; exit 3");
    let config = project.read("countersign.yml").replace("for: ['*.md'],", "for: ['*.md'], each: file,");
    project.write("countersign.yml", config);
    for n in 0..30 {
        project.write(&format!("b{n}.md"), "text");
    }
    let text = project.run(&["review"]).exits(4).stdout;
    // Each reviewer was asked about a file or counted as down by then: one reason for each of these groups.
    let groups = text.lines().filter(|line| line.starts_with("no verdict ")).count();
    assert!((2..=4).contains(&groups) && text.matches("resets at 5 pm").count() == groups, "{text}");
    let down =
        "first: not asked: `first` counts as down for this round, because 3 questions failed the same way";
    assert!(text.contains(down), "{text}");
    assert!(text.contains(" more: the reviewer was not available"), "{text}");
    let json = project.run(&["show", "--json"]).json();
    assert_eq!(json["assignments"].as_array().unwrap().len(), 31);
}

#[test]
fn nobody_else_is_asked_because_of_an_inconvenient_verdict() {
    for (first, code) in [(FAIL, 1), ("echo nonsense", 4)] {
        let (project, _, second) = two(first, PASS);
        project.run(&["review"]).exits(code);
        assert_eq!(second.asked().len(), 0, "{first}");
    }
}

/// Programs that stand in for installed agents, each of which says its name and fails.
#[test]
fn another_vendor_than_the_author_is_asked_first() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.write("a.md", "text");
    for name in ["claude", "codex", "gemini"] {
        project.write(&format!("bin/{name}"), "#!/bin/sh\nexit 1\n");
        let file = project.path(&format!("bin/{name}"));
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let order = |variable: Option<&str>, more: &[&str]| -> Vec<String> {
        let args = [&["review", "a.md", "--criterion", "Complete=?", "--no-cache", "--json"], more].concat();
        let mut command = project.command(&args);
        command.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        let json = countersign_testkit::Running::start(&mut command).wait().exits(4).json();
        let asked = json["assignments"][0]["not_answered"].as_array().unwrap().clone();
        asked.iter().map(|one| one["reviewer"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order(None, &[]), ["claude", "codex", "gemini"]);
    assert_eq!(order(Some("CLAUDECODE"), &[]), ["codex", "gemini", "claude"]);
    assert_eq!(order(Some("OPENCODE"), &[]), ["claude", "codex", "gemini"]);
    assert_eq!(order(None, &["--author", "codex"]), ["claude", "gemini", "codex"]);
    assert_eq!(order(Some("CLAUDECODE"), &["--author", "gemini"]), ["claude", "codex", "gemini"]);
    assert_eq!(order(Some("CLAUDECODE"), &["--reviewer", "claude"]), ["claude"]);
    let refused = project.run(&["review", "a.md", "--author", "nobody"]).exits(2).stderr;
    assert!(refused.contains("known: claude"), "{refused}");
}
