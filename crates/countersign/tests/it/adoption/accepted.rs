//! What is accepted although it fails: findings that were there before a change, the baseline, and exceptions.

use crate::project;
use countersign_testkit::{Judge, Project, Repository};
use serde_json::{Value, json};

const CONFIG: &str = "version: 1\n\
    reviewers: [{name: judge, use: command, command: [./judge.sh]}]\n\
    rules: [{name: docs, for: ['*.md'], each: file, criteria: [{name: Complete, ask: 'Is it?'}]}]\n";

/// Finds lines with the word BAD, and says that a change did not cause those with the word OLD.
const JUDGE: &str = r#"
import json, os
brief = json.loads(os.environ["BRIEF"])
found = []
for path in [file["path"] for file in brief["files"]]:
    try:
        lines = open(os.path.join(os.environ["ROOT"], path)).read().split("\n")
    except OSError:
        continue
    for n, line in enumerate(lines, 1):
        if "BAD" in line:
            found.append({"message": "it says " + line.split("<!--")[0].strip(), "file": path, "line": n, "caused_by_change": "OLD" not in line})
ruling = {"criterion": "Complete", "passed": not found, "feedback": "BAD lines" if found else None, "findings": found}
print(json.dumps({"passed": not found, "feedback": "f", "criteria_results": [ruling]}))
"#;

/// A project on a branch, with a judge that names lines.
fn started(text: &str) -> (Project, Repository, Judge) {
    let project = project();
    let repository = Repository::at(project.root());
    project.write(".gitignore", ".asked*\n.reply\n").write("countersign.yml", CONFIG).write("a.md", text);
    project.write("find.py", JUDGE);
    let root = project.root().display();
    let judge = Judge::scripted(
        &project,
        "judge.sh",
        &format!("BRIEF=\"$brief\" ROOT='{root}' python3 '{root}/find.py'"),
    );
    repository.commit("first");
    repository.git(["checkout", "-q", "-b", "topic"]);
    (project, repository, judge)
}

fn lines(count: usize, special: &[(usize, &str)]) -> String {
    let line = |n: usize| {
        let found = special.iter().find(|(at, _)| *at == n);
        found.map_or(format!("line {n}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=count).map(line).collect()
}

fn accepted(json: &Value) -> Vec<(String, u64)> {
    let all = json["accepted"].as_array().unwrap().iter();
    all.map(|one| (one["by"].as_str().unwrap().to_owned(), one["flaw"]["location"]["line"].as_u64().unwrap()))
        .collect()
}

#[test]
fn issue_20_what_was_there_before_a_change_does_not_block() {
    let (project, _, _) = started(&lines(20, &[(2, "OLD BAD")]));
    project.write("a.md", lines(20, &[(2, "OLD BAD"), (12, "new")]));
    let json = project.run(&["review", "--change", "--json"]).exits(0).json();
    assert_eq!(accepted(&json), [("already_there".to_owned(), 2)]);
    // Every format shows them, with the reason, and none as a failure.
    let report = |format: &str| project.run(&["show", "--format", format]).exits(0).stdout;
    for format in ["github", "sarif", "junit", "gitlab", "rdjson", "markdown"] {
        let text = report(format);
        // Some formats escape brackets.
        let said = text.split("it says OLD BAD ").nth(1).unwrap_or_default();
        assert!(said.trim_start_matches(['\\', '[']).starts_with("already there"), "{format}: {text}");
    }
    assert!(!report("junit").contains("<failure"), "{}", report("junit"));
    assert_eq!(json["findings"], json!([]));
    let text = project.run(&["review", "--change"]).exits(0).stdout;
    assert!(
        text.contains("does not block: Complete (docs): a.md:2") && text.contains("[already there]"),
        "{text}"
    );
    assert!(text.trim_end().ends_with("1 already there"), "{text}");
    // Beside it something new: the finding blocks, and what was there is still shown as such.
    project.write("a.md", lines(20, &[(2, "OLD BAD"), (12, "BAD")]));
    let json = project.run(&["review", "--change", "--json"]).exits(1).json();
    assert_eq!((json["findings"].as_array().unwrap().len(), accepted(&json).len()), (1, 1));
    // Without a change there is nothing that could have caused it.
    project.write("a.md", lines(20, &[(2, "OLD BAD")]));
    project.run(&["review"]).exits(1);
}

#[test]
fn issue_20_only_a_place_in_lines_that_the_change_left_alone_was_there_before() {
    let (project, _, _) = started(&lines(30, &[]));
    let judge = Judge::replying(&project, "");
    let mut n = 0;
    let mut judged = |finding: Value| {
        n += 1;
        project.write("a.md", lines(30, &[(12, &format!("new {n}"))]));
        let ruling =
            json!({ "criterion": "Complete", "passed": false, "feedback": "x", "findings": [finding] });
        let reply = json!({ "passed": false, "feedback": "f", "criteria_results": [ruling] });
        project.write(".reply", reply.to_string());
        project.run(&["review", "--change", "--reviewer", judge.name()]).code
    };
    let found = |more: Value| {
        let mut finding = json!({ "message": "m", "file": "a.md", "line": 2, "caused_by_change": false });
        finding.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        finding
    };
    assert_eq!(judged(found(json!({}))), 0);
    for blocks in [
        json!({ "caused_by_change": null }),
        json!({ "caused_by_change": true }),
        json!({ "caused_by_change": "no" }),
        // Lines that the change wrote, a place that is none, and no place.
        json!({ "line": 12 }),
        json!({ "end_line": 12 }),
        json!({ "line": 99 }),
        json!({ "end_line": 99 }),
        json!({ "line": null }),
        json!({ "file": "b.md" }),
        json!({ "line": "2" }),
    ] {
        assert_eq!(judged(found(blocks.clone())), 1, "{blocks}");
    }
    assert_eq!(judged(json!({ "message": "m", "line": 2 })), 1);
}

#[test]
fn issue_20_a_rule_may_want_the_whole_file() {
    let (project, repository, _) = started(&lines(20, &[(2, "OLD BAD")]));
    let schema = |project: &Project| {
        let json = project.run(&["review", "--change", "--dry-run", "--json"]).exits(0).json();
        json["assignments"][0]["schema"].to_string()
    };
    project.write("a.md", lines(20, &[(2, "OLD BAD"), (12, "new")]));
    assert!(schema(&project).contains("caused_by_change"));
    repository.git(["checkout", "-q", "main"]);
    project.write("countersign.yml", CONFIG.replace("each: file", "each: file, lines: file"));
    repository.git(["commit", "-q", "-m", "whole files", "countersign.yml"]);
    assert!(!schema(&project).contains("caused_by_change"));
    project.run(&["review", "--change"]).exits(1);
    // A question about whole files never asks it.
    let json = project.run(&["review", "--dry-run", "--json"]).exits(0).json();
    assert!(!json.to_string().contains("caused_by_change"));
}

#[test]
fn issue_20_the_baseline_knows_findings_by_what_stands_there() {
    let (project, repository, _) = started("BAD one\nBAD two\n");
    project.run(&["review"]).exits(1);
    let json = project.run(&["baseline", "--json"]).exits(0).json();
    assert_eq!((json["findings"].as_u64(), json["added"].as_array().unwrap().len()), (Some(2), 2));
    let text = project.run(&["review"]).exits(0).stdout;
    assert!(text.trim_end().ends_with("2 in the baseline"), "{text}");
    // Findings may move. Two others are two others.
    project.write("a.md", "x\n\nBAD two\n  BAD one\n");
    assert_eq!(accepted(&project.run(&["review", "--json"]).exits(0).json()).len(), 2);
    project.write("a.md", "BAD three\nBAD four\n");
    let json = project.run(&["review", "--json"]).exits(1).json();
    assert_eq!(accepted(&json).len(), 0);
    assert_eq!(json["baseline_fixed"].as_array().unwrap().len(), 2);
    // The same line once more is one more.
    project.write("a.md", "BAD one\nBAD one\nBAD two\n");
    project.run(&["review"]).exits(1);
    // What is fixed is told and taken out; what is new is not added by that.
    project.write("a.md", "BAD two\nBAD new\n");
    let ran = project.run(&["review"]).exits(1);
    assert!(ran.stdout.contains("1 finding of the baseline is fixed"), "{}", ran.stdout);
    let json = project.run(&["baseline", "--prune", "--json"]).exits(0).json();
    let counts = ["added", "fixed", "left"].map(|key| json[key].as_array().unwrap().len());
    assert_eq!((json["findings"].as_u64(), counts), (Some(1), [0, 1, 1]));
    project.run(&["review"]).exits(1);
    project.write("a.md", "BAD two\n");
    project.run(&["review"]).exits(0);
    // It is one line for each finding, for people who review it.
    let file = project.read("countersign.baseline.json");
    assert!(
        file.contains(
            "{\"file\":\"a.md\",\"rule\":\"docs\",\"criterion\":\"Complete\",\"message\":\"it says BAD two\""
        ),
        "{file}"
    );
    assert_eq!(file.lines().count(), 6, "{file}");
    // A change is judged beside the baseline of its base.
    repository.git(["checkout", "-q", "main"]);
    repository.commit("with a baseline");
    repository.git(["checkout", "-q", "-b", "next"]);
    project.write("a.md", format!("{}BAD two\n", lines(9, &[])));
    repository.commit("moved");
    project.run(&["review", "--change"]).exits(0);
    project.write("a.md", format!("BAD new\n{}BAD two\n", lines(9, &[])));
    let json = project.run(&["review", "--change", "--json"]).exits(1).json();
    assert_eq!(accepted(&json), [("baseline".to_owned(), 11)]);
}

#[test]
fn issue_20_what_no_line_tells_is_accepted_only_while_its_file_stays() {
    let (project, ..) = started("one\n}\n");
    let judge = Judge::replying(&project, "");
    let reply = |finding: Value| {
        let ruling =
            json!({ "criterion": "Complete", "passed": false, "feedback": "x", "findings": [finding] });
        project.write(
            ".reply",
            json!({ "passed": false, "feedback": "f", "criteria_results": [ruling] }).to_string(),
        );
    };
    for finding in [json!({ "message": "something lacks" }), json!({ "message": "m", "line": 2 })] {
        reply(finding.clone());
        project.write("a.md", format!("one {}\n}}\n", finding["line"]));
        project.run(&["baseline", "--reviewer", judge.name()]).exits(0);
        assert!(project.read("countersign.baseline.json").contains("\"digest\""));
        project.run(&["review", "--reviewer", judge.name()]).exits(0);
        project.write("a.md", format!("other {}\n}}\n", finding["line"]));
        project.run(&["review", "--reviewer", judge.name()]).exits(1);
    }
}

#[test]
fn issue_20_a_baseline_that_cannot_be_read_is_an_error() {
    let (project, ..) = started("BAD one\n");
    for (text, words) in [
        ("{", "line 1"),
        (r#"{"version":2,"findings":[]}"#, "`version` is 2"),
        (r#"{"version":1,"findings":[],"more":1}"#, "unknown field `more`"),
        (
            r#"{"version":1,"findings":[{"rule":"docs","criterion":"Complete","message":"","fingerprint":" "}]}"#,
            "`fingerprint` is empty",
        ),
    ] {
        project.write("countersign.baseline.json", text);
        let ran = project.run(&["review"]).exits(2);
        assert!(
            ran.stderr.contains("countersign.baseline.json") && ran.stderr.contains(words),
            "{}",
            ran.stderr
        );
        assert_eq!(project.read("countersign.baseline.json"), text);
    }
}

#[test]
fn issue_20_an_exception_holds_where_the_base_has_it() {
    let old = "BAD x <!-- countersign: allow docs/Complete because it is a quotation -->\n";
    let (project, repository, _) = started(old);
    let json = project.run(&["review", "--json"]).exits(0).json();
    assert_eq!(accepted(&json), [("exception".to_owned(), 1)]);
    let exception = &json["accepted"][0]["exception"];
    assert_eq!(exception["reason"], "it is a quotation");
    let text = project.run(&["review"]).exits(0).stdout;
    assert!(text.contains("exception in line 1: because it is a quotation"), "{text}");
    assert!(text.trim_end().ends_with("1 exception"), "{text}");
    // It may move. Other words in its line are another line.
    project.write("a.md", format!("{}{old}", lines(9, &[])));
    project.run(&["review", "--change"]).exits(0);
    project.write("a.md", old.replace("BAD x", "BAD y"));
    let ran = project.run(&["review", "--change"]).exits(3);
    assert!(ran.stdout.contains("new, a person has the last word"), "{}", ran.stdout);
    // A new one waits for a person, and lets no other criterion, rule or line be.
    repository.git(["checkout", "-q", "a.md"]);
    for (text, code) in [
        ("<!-- countersign: allow docs/Complete because new -->\nBAD z\n", 3),
        ("<!-- countersign: allow docs/Other because new -->\nBAD z\n", 1),
        ("<!-- countersign: allow all/Complete because new -->\nBAD z\n", 1),
        ("<!-- countersign: allow docs/Complete -->\nBAD z\n", 1),
        ("<!-- countersign: allow docs/Complete because new -->\nx\nBAD z\n", 1),
    ] {
        project.write("b.md", text);
        let ran = project.run(&["review", "--change", "--json"]);
        assert_eq!(ran.code, code, "{text} {}", ran.stdout);
    }
    project.write("b.md", "<!-- countersign: allow docs/Complete because new -->\nBAD z\n");
    let json = project.run(&["review", "--change", "--subject", "x", "--json"]).exits(3).json();
    assert!(json["next"][0].as_str().unwrap().contains("exceptions that are new in it"), "{json}");
    // Committed where the base is, a person has let it in.
    repository.commit("with an exception");
    repository.git(["checkout", "-q", "main"]);
    repository.git(["merge", "-q", "topic"]);
    repository.git(["checkout", "-q", "-b", "later"]);
    project.write("c.md", "good\n");
    project.run(&["review", "--change"]).exits(0);
    project.run(&["review"]).exits(0);
}
