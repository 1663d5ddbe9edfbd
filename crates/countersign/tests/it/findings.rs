//! Findings with a place: what checks, reviewers, recordings and self-reviews name, held against the files (issue 15,
//! item 4).

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Repository};
use serde_json::{Value, json};

/// A reply that fails `Complete` and says this about it.
fn failing(feedback: Option<&str>, findings: &Value) -> String {
    let result =
        json!({ "criterion": "Complete", "passed": false, "feedback": feedback, "findings": findings });
    json!({ "passed": false, "feedback": "overall", "criteria_results": [result] }).to_string()
}

/// What a review of these files by this reviewer finds, in the one failed ruling.
fn found(project: &Project, reviewer: &str, files: &[&str]) -> Vec<Value> {
    let mut args = vec!["review", "--criterion", COMPLETE, "--reviewer", reviewer, "--json"];
    args.extend(files);
    let json = project.run(&args).exits(1).json();
    let mut findings = json["findings"][0]["findings"].as_array().unwrap().clone();
    for finding in &mut findings {
        finding.as_object_mut().unwrap().remove("excerpt").unwrap();
    }
    assert_eq!(json!(findings), json["assignments"][0]["rulings"][0]["findings"], "said alike everywhere");
    findings
}

/// A finding without its fingerprint and its lines.
fn plain(findings: &[Value]) -> Vec<Value> {
    let without = |finding: &Value| {
        let mut finding = finding.clone();
        let fingerprint = finding.as_object_mut().unwrap().remove("fingerprint").unwrap();
        assert_eq!(fingerprint.as_str().unwrap().len(), 32);
        finding.as_object_mut().unwrap().remove("excerpt");
        finding
    };
    findings.iter().map(without).collect()
}

fn finding(message: &str, place: &Value, dropped: Option<&str>) -> Value {
    json!({
        "message": message, "location": place, "outside_change": false, "untouched": false, "caused_by_change": null,
        "location_dropped": dropped,
    })
}

fn at(file: &str, line: impl Into<Option<u64>>) -> Value {
    json!({ "file": file, "line": line.into(), "end_line": null })
}

#[test]
fn issue_15_4_checks_name_file_and_line_and_the_text_says_them_once() {
    let project = project();
    project.write("docs/a.md", "# A\n\nTODO\nfine\nTODO\n").write("docs/b.md", "").write("c.json", "{\n");
    project.write(
        "countersign.yml",
        "version: 1\nrules:\n  - name: docs\n    for: ['docs/*.md']\n    criteria:\n\
         \x20     - {name: Finished, check: no_placeholders}\n      - {name: Filled, check: not_empty}\n\
         \x20 - name: data\n    for: ['*.json']\n    criteria: [{name: Valid, check: valid_json}]\n",
    );
    let json = project.run(&["review", "--json"]).exits(1).json();
    let of = |i: usize| plain(json["findings"][i]["findings"].as_array().unwrap());
    let todo = "placeholder text `TODO`";
    assert_eq!(of(0), [finding(todo, &at("docs/a.md", 3), None), finding(todo, &at("docs/a.md", 5), None)]);
    assert_eq!(of(1), [finding("is empty", &at("docs/b.md", None), None)]);
    assert_eq!(of(2)[0]["location"], at("c.json", 1), "what ends too early ends at its last line: {json}");
    let text = project.run(&["review"]).exits(1).stdout;
    assert!(
        text.contains("         docs/a.md:3: placeholder text `TODO`; line 5: placeholder text `TODO`\n")
    );
    assert_eq!(text.matches(todo).count(), 2, "{text}");
}

#[test]
fn issue_15_4_a_place_of_a_reviewer_is_checked_dropped_and_marked() {
    let project = project();
    project.write("src/a.md", "one\ntwo\nthree\n").write("b.md", "b\n").write("other.md", "o\n");
    let stated = json!([
        { "message": "good", "file": "src/a.md", "line": 2, "end_line": 3 },
        { "message": "whole", "file": "./b.md" },
        { "message": "beyond", "file": "src/a.md", "line": 900 },
        { "message": "elsewhere", "file": "other.md", "line": 1 },
        { "message": "no file", "line": 1 },
        { "message": "no number", "file": "b.md", "line": "1" },
        { "message": "nowhere", "file": null, "line": null, "end_line": null },
    ]);
    let judge = Judge::replying(&project, &failing(Some("seven things"), &stated));
    let range = json!({ "file": "src/a.md", "line": 2, "end_line": 3 });
    let null = Value::Null;
    let expected = [
        finding("good", &range, None),
        finding("whole", &at("b.md", None), None),
        finding("beyond", &null, Some("src/a.md:900: the file has 3 lines")),
        finding("elsewhere", &null, Some("other.md:1: the question was not about this file")),
        finding("no file", &null, Some("line 1: the question was about several files")),
        finding("no number", &null, Some("`line` is not the number of a line")),
        finding("nowhere", &null, None),
    ];
    let findings = found(&project, judge.name(), &["src/a.md", "b.md"]);
    assert_eq!(plain(&findings), expected);
    let mut prints: Vec<_> =
        findings.iter().map(|finding| finding["fingerprint"].as_str().unwrap()).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), findings.len(), "{findings:?}");
    let text = project.run(&["show"]).exits(0).stdout;
    for line in [
        "seven things",
        "src/a.md:2-3: good",
        "b.md: whole",
        "beyond (location dropped: src/a.md:900: the file has 3 lines)",
        "nowhere",
    ] {
        assert!(text.contains(&format!("         {line}\n")), "{line}: {text}");
    }
}

#[test]
fn issue_15_4_a_line_outside_the_diff_is_kept_and_marked() {
    let project = project();
    let repository = Repository::at(project.root());
    let lines = |changed: &str| (1..=40).map(|n| format!("line {n}{changed}\n")).collect::<String>();
    project.write("a.md", lines("")).write(".gitignore", ".asked*\n.reply\n");
    let stated = json!([
        { "message": "new", "file": "b/a.md", "line": 40 },
        { "message": "old", "file": "a.md", "line": 3 },
        { "message": "never", "file": "a.md", "line": 41 },
    ]);
    let judge = Judge::replying(&project, &failing(None, &stated));
    project.write(
        "countersign.yml",
        format!(
            "version: 1\nreviewers: [{{name: judge, use: command, command: ['{}']}}]\n\
             rules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n",
            judge.name().trim_start_matches("command:")
        ),
    );
    repository.commit("first");
    project.write("a.md", lines("").replace("line 40\n", "changed\n"));
    let json = project.run(&["review", "--change", "--json"]).exits(1).json();
    let findings = plain(json["findings"][0]["findings"].as_array().unwrap());
    let mut outside = finding("old", &at("a.md", 3), None);
    (outside["outside_change"], outside["untouched"]) = (json!(true), json!(true));
    let never = finding("never", &Value::Null, Some("a.md:41: the file has 40 lines"));
    assert_eq!(findings, [finding("new", &at("a.md", 40), None), outside, never]);
    let text = project.run(&["show"]).exits(0).stdout;
    assert!(text.contains("         a.md:3 (outside the change): old\n"), "{text}");
    assert!(text.contains("         a.md:40: new\n"), "without a feedback of its own: {text}");
}

/// A reply of document 000 stays valid, and is recorded as it always was: so do the ledgers written before.
#[test]
fn issue_15_4_a_reply_without_findings_has_one_made_of_its_feedback() {
    let project = project();
    project.write("a.md", "text\n");
    let old = r#"{"passed": false, "feedback": "overall", "criteria_results": [{"criterion": "Complete", "passed": false, "feedback": "a.md:1: gap\nand another"}]}"#;
    let bare = r#"{"passed": false, "feedback": "all of it"}"#;
    let judge = Judge::replying(&project, old);
    let findings = found(&project, judge.name(), &["a.md"]);
    assert_eq!(
        plain(&findings),
        [finding("a.md:1: gap\nand another", &Value::Null, None)],
        "prose is not searched"
    );
    let shown = project.run(&["show", "--json"]).exits(0).json();
    let events = project.run(&["log", shown["review"]["id"].as_str().unwrap(), "--json"]).exits(0).stdout;
    assert!(events.contains("a.md:1: gap") && !events.contains("\"findings\":[{"), "{events}");
    project.write(".reply", bare);
    let args = ["review", "a.md", "--criterion", "Other=Is it?", "--reviewer", judge.name(), "--json"];
    let json = project.run(&args).exits(1).json();
    let findings = json["findings"][0]["findings"].as_array().unwrap();
    assert_eq!(plain(findings), [finding("all of it", &Value::Null, None)]);
}

#[test]
fn issue_15_4_findings_on_a_criterion_that_passed_are_a_contradiction() {
    let project = project();
    project.write("a.md", "text\n");
    let reply = failing(None, &json!([{ "message": "m" }])).replace("false", "true");
    let judge = Judge::replying(&project, &reply);
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
    assert_eq!(project.run(&args).exits(4).json()["reason"], "contradictory");
    project.write(".reply", reply.replace(r#"[{"message":"m"}]"#, "[]"));
    project.run(&args).exits(0);
}

#[test]
fn issue_15_4_fingerprints_survive_lines_that_move() {
    let project = project();
    project.write("a.md", "one\ntwo\n");
    let at = |line: u64, message: &str| failing(None, &json!([{ "message": message, "line": line }]));
    let judge = Judge::replying(&project, &at(2, "two is wrong"));
    let print = |line: u64, message: &str| {
        project.write(".reply", at(line, message));
        found(&project, judge.name(), &["a.md"])[0]["fingerprint"].clone()
    };
    let first = print(2, "two is wrong");
    project.write("a.md", "new\n\none\n  two\n");
    assert_eq!(print(4, "this is not right"), first);
    project.write("a.md", "new\n\none\n  two\nthree\n");
    assert_ne!(print(3, "two is wrong"), first);
}

#[test]
fn issue_15_4_recordings_and_self_reviews_may_name_places_too() {
    let project = project();
    project.write("a.md", "one\ntwo\n");
    let stated = json!([{ "message": "m", "line": 2 }, { "message": "n", "file": "b.md", "line": 2 }]);
    let row = json!({ "criterion": "Complete", "passed": false, "feedback": "f", "findings": stated });
    let dropped = finding("n", &Value::Null, Some("b.md:2: the question was not about this file"));
    let expected = [finding("m", &at("a.md", 2), None), dropped];
    project.write("rec.jsonl", row.to_string());
    assert_eq!(plain(&found(&project, "replay:rec.jsonl", &["a.md"])), expected);
    project.write("rec.jsonl", row.to_string().replace("\"line\":2", "\"line\":\"2\""));
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "replay:rec.jsonl"];
    assert!(project.run(&args).exits(2).stderr.contains("line 1"));

    // The author is not asked about bytes that failed already.
    project.write("a.md", "one\ntwo\nthree\n");
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "self", "--subject", "x", "--json"];
    let waiting = project.run(&args).exits(3).json();
    let id = waiting["review"]["id"].as_str().unwrap();
    let text = std::fs::read_to_string(project.ledger_path(&format!("self_review_{id}.md"))).unwrap();
    let token = text.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap();
    project.write("results.json", json!({ "token": token, "results": [row] }).to_string());
    let json = project.run(&["rule", id, "--from", "results.json", "--json"]).exits(1).json();
    assert_eq!(plain(json["findings"][0]["findings"].as_array().unwrap()), expected);
}
