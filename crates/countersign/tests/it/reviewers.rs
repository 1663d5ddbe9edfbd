//! Who rules beside a program: checks, a recording, the author.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project};
use serde_json::json;

fn configured(criteria: &str) -> Project {
    let project = project();
    let config = format!(
        "version: 1\nrules:\n  - name: docs\n    for: ['docs/*.md']\n    each: file\n    criteria:\n{criteria}"
    );
    project.write("countersign.yml", config);
    project
}

#[test]
fn checks_need_no_reviewer_at_all() {
    let project = configured(
        "      - {name: Text, check: no_placeholders}\n      - {name: Links, check: links_resolve}\n      - {name: Lint, check: {run: 'test \"$1\" != docs/b.md'}}\n",
    );
    project.write("docs/a.md", "see [b](b.md)").write("docs/b.md", "TODO, see [c](c.md)");
    let json = project.run(&["review", "--json"]).exits(1).json();
    let found: Vec<_> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["file"].as_str().unwrap(), f["criterion"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("docs/b.md", "Text"), ("docs/b.md", "Links"), ("docs/b.md", "Lint")]);
    project.write("docs/b.md", "see [a](a.md)");
    let json = project.run(&["review", "--json"]).exits(1).json();
    assert_eq!(json["findings"][0]["criterion"], "Lint");
    assert!(json["findings"][0]["feedback"].as_str().unwrap().contains("ended with exit code 1, expected 0"));
    // A file's own bytes may be known; what looks further is looked at again.
    assert_eq!(json["cost"]["rulings_reused"], 1);
}

#[test]
fn issue_19_checks_are_named_where_they_are_asked_a_question() {
    let project = configured("      - {name: Complete, ask: 'Is it?'}\n");
    let judge = Judge::by_word(&project, "Complete");
    let command = judge.name().trim_start_matches("command:");
    let config = project.read("countersign.yml");
    project.write("docs/a.md", "x").write(
        "countersign.yml",
        config.replace(
            "rules:",
            &format!("reviewers: [{{name: j, use: command, command: [{command}]}}]\nrules:"),
        ),
    );
    let ran = project.run(&["review", "--reviewer", "checks"]).exits(2);
    assert!(ran.stderr.contains("is a question, and `checks` answers none"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("none is configured"), "{}", ran.stderr);
    let ran = project.run(&["doctor", "--reviewer", "checks"]);
    assert!(!ran.stdout.contains("no reviewer is configured"), "{}", ran.stdout);
    project.run(&["review"]).exits(0);
}

#[test]
fn a_command_check_that_hangs_is_no_verdict() {
    let project =
        configured("      - {name: Lint, check: {run: {command: 'sleep 1000', timeout_seconds: 1}}}\n");
    project.write("docs/a.md", "x");
    let json = project.run(&["review", "--json"]).exits(4).json();
    assert_eq!(json["reason"], "timeout");
}

#[test]
fn a_recording_answers_what_it_has_and_nothing_else() {
    let project = configured("      - {name: Complete, ask: 'Complete?'}\n");
    project.write("docs/a.md", "x").write("docs/b.md", "y");
    let row = |file: &str, passed: bool| {
        format!(
            "{}\n",
            json!({"rule": "docs", "file": file, "criterion": "complete", "passed": passed, "feedback": "as recorded"})
        )
    };
    project.write("rec.jsonl", row("docs/a.md", true));
    let args = ["review", "--reviewer", "replay:rec.jsonl", "--json"];
    let json = project.run(&args).exits(4).json();
    assert_eq!(
        (json["reason"].as_str(), json["assignments"][1]["state"].as_str()),
        (Some("unavailable"), Some("no_verdict"))
    );
    project.write("rec.jsonl", row("docs/a.md", true) + &row("docs/b.md", false));
    let json = project.run(&args).exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "as recorded");
    // Another recording does not replace a failure on the same bytes.
    project.write("rec.jsonl", row("docs/a.md", true) + &row("docs/b.md", true));
    project.run(&args).exits(1);
    project.write("docs/b.md", "z");
    project.run(&args).exits(0);
    project.write("rec.jsonl", "{\"criterion\": 1}\n");
    assert!(project.run(&args[..3]).exits(2).stderr.contains("line 1"));
}

/// The author's own review: instructions, a token, a ruling per criterion, for the bytes of that moment.
#[test]
fn a_self_review_waits_for_its_results() {
    let project = project();
    project.write("a.md", "draft");
    let review = [
        "review",
        "a.md",
        "--criterion",
        COMPLETE,
        "--criterion",
        "Clear=Clear?",
        "--reviewer",
        "self",
        "--subject",
        "x",
        "--json",
    ];
    let waiting = project.run(&review).exits(3).json();
    assert_eq!(waiting["outcome"], "awaiting_person");
    let id = waiting["review"]["id"].as_str().unwrap().to_owned();
    let instructions = project.ledger_path(&format!("self_review_{id}.md"));
    let token =
        |text: &str| text.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let text = std::fs::read_to_string(&instructions).unwrap();
    for part in [
        "# Quality Review Instructions",
        "- a.md  (output: files)",
        "- **Complete**: Is it complete?",
        "## Your Task",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let results = |token: &str, complete: bool, rows: usize| {
        let rows: Vec<_> = [
            json!({"criterion": "Complete", "passed": complete}),
            json!({"criterion": "Clear", "passed": true}),
        ]
        .into_iter()
        .take(rows)
        .collect();
        json!({"token": token, "results": rows}).to_string()
    };
    let rule = |results: String| {
        project.write("results.json", results);
        project.run(&["rule", &id, "--from", "results.json", "--json"])
    };
    assert!(rule(results("sr-wrong", true, 2)).exits(2).stdout.contains("token does not belong"));
    assert!(
        rule(results(&token(&text), true, 1)).exits(2).stdout.contains("criterion 'Clear' is not answered")
    );
    // Asked again without results: a new token, the old one is void.
    project.run(&review).exits(3);
    let newer = std::fs::read_to_string(&instructions).unwrap();
    assert_ne!(token(&newer), token(&text));
    rule(results(&token(&text), true, 2)).exits(2);
    let failed = rule(results(&token(&newer), false, 2)).exits(1).json();
    assert_eq!(failed["findings"][0]["criterion"], "Complete");
    // The next round, and the author mends the file before handing in.
    project.write("a.md", "better");
    project.run(&review).exits(3);
    project.write("a.md", "finished");
    let last = token(&std::fs::read_to_string(&instructions).unwrap());
    let passed = rule(results(&last, true, 2)).exits(0).json();
    assert_eq!(passed["assignments"][0]["ruled_by"], "self");
    assert_eq!(passed["assignments"][0]["files"][0]["size_bytes"], "finished".len());
    // Once more is the recorded answer, not another review.
    rule(results(&last, true, 2)).exits(0);
}

#[test]
fn a_self_review_that_never_comes_ends() {
    let project = project();
    project.write("a.md", "draft");
    let review = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "self", "--subject", "x"];
    for _ in 0..4 {
        project.run(&review).exits(3);
    }
    project.run(&review).exits(6);
}

#[test]
fn a_rule_may_name_its_reviewer() {
    let project = project();
    let one = Judge::scripted(
        &project,
        "one.sh",
        r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "C", "passed": true}]}'"#,
    );
    let two = Judge::scripted(
        &project,
        "two.sh",
        r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "C", "passed": true}]}'"#,
    );
    let config = "version: 1\nreviewers:\n  - {name: one, use: command, command: [./one.sh]}\n  - {name: two, use: command, command: [./two.sh]}\nrules:\n  - {name: a, for: [a.md], criteria: [{name: C, ask: ok?}]}\n  - {name: b, for: [b.md], reviewer: two, criteria: [{name: C, ask: ok?}]}\n";
    project.write("countersign.yml", config).write("a.md", "x").write("b.md", "y");
    project.run(&["review"]).exits(0);
    assert_eq!((one.asked(), two.asked()), (vec!["a.md".to_owned()], vec!["b.md".to_owned()]));
    project.run(&["review", "--reviewer", "one", "--no-cache"]).exits(0);
    assert_eq!(two.asked().len(), 1, "somebody named on the command line is asked everything");
}

#[test]
fn two_rules_that_ask_the_same_get_an_answer_each() {
    let project = project();
    let config = "version: 1\nreviewers: [{name: r, use: replay, file: r.jsonl}]\nrules:\n  - {name: a, for: [a.md], criteria: [{name: C, ask: ok?}]}\n  - {name: b, for: [a.md], criteria: [{name: C, ask: ok?}]}\n";
    let rows = "{\"rule\": \"a\", \"criterion\": \"C\", \"passed\": true}\n{\"rule\": \"b\", \"criterion\": \"C\", \"passed\": false}\n";
    project.write("countersign.yml", config).write("a.md", "x").write("r.jsonl", rows);
    let json = project.run(&["review", "--json"]).exits(1).json();
    assert_eq!(json["findings"][0]["rule"], "b");
}

#[test]
fn an_author_may_mend_before_each_look() {
    let project = project();
    let review =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", "self", "--subject", "x", "--json"];
    let mut id = String::new();
    for version in ["one", "two", "three", "four"] {
        project.write("a.md", version);
        id = project.run(&review).exits(3).json()["review"]["id"].as_str().unwrap().to_owned();
    }
    let text = project.read_own(&format!("self_review_{id}.md"));
    let token = text.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap();
    let results = json!({"token": token, "results": [{"criterion": "Complete", "passed": true}]});
    project.write("a.md", "five").write("results.json", results.to_string());
    project.run(&["rule", &id, "--from", "results.json"]).exits(0);
}

#[test]
fn a_reviewer_may_be_given_a_device() {
    let project = project();
    project.write("a.md", "x");
    let judge = Judge::by_word(&project, "Complete");
    let reviewer = format!("{} /dev/stdin /dev/zero", judge.name());
    project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", &reviewer]).exits(0);
}

#[test]
fn a_reviewer_that_is_exchanged_on_the_way_does_not_rule() {
    let project = project();
    let judge = Judge::by_word(&project, "C");
    let lenient = Judge::scripted(
        &project,
        "lenient.sh",
        r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "C", "passed": true}]}'"#,
    );
    // One question at a time, and the first of them puts another program in the reviewer's place.
    let config = "version: 1\nreviewers: [{name: r, use: command, command: [./judge.sh], concurrency: 1}]\nrules:\n  - {name: a, for: [a.md], criteria: [{name: C, ask: ok?}]}\n  - {name: b, for: [b.md], criteria: [{name: C, ask: ok?}]}\n";
    project.write("countersign.yml", config).write("a.md", "x").write("b.md", "BAD");
    let honest = project.read("judge.sh");
    project.write("judge.sh", honest.replace("brief=$(cat)", "brief=$(cat); cp ROOT/lenient.sh ROOT/.new && chmod +x ROOT/.new && mv ROOT/.new ROOT/judge.sh").replace("ROOT", project.root().to_str().unwrap()));
    let json = project.run(&["review", "--json"]).exits(4).json();
    assert!(json["assignments"][1]["detail"].as_str().unwrap().contains("was edited while it was asked"));
    assert_eq!((judge.asked().len(), lenient.asked().len()), (1, 1));
}

#[test]
fn a_self_review_of_mended_work_is_not_given_to_somebody_else() {
    let project = project();
    let judge = Judge::by_word(&project, "C");
    let config = "version: 1\nreviewers: [{name: r, use: command, command: [./judge.sh]}]\nrules: [{name: a, for: [a.md], criteria: [{name: C, ask: ok?}]}]\n";
    project.write("countersign.yml", config).write("a.md", "draft");
    let review = ["review", "--reviewer", "self", "--subject", "x", "--json"];
    let id = project.run(&review).exits(3).json()["review"]["id"].as_str().unwrap().to_owned();
    let text = project.read_own(&format!("self_review_{id}.md"));
    let token = text.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap();
    let results = json!({"token": token, "results": [{"criterion": "C", "passed": false}]});
    project.write("a.md", "mended").write("results.json", results.to_string());
    project.run(&["rule", &id, "--from", "results.json"]).exits(1);
    assert!(judge.asked().is_empty());
}
