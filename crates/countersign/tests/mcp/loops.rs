//! Handing in, fixing, handing in again.

use crate::client::Client;
use crate::{configure, judged, project};
use countersign_testkit::Judge;
use serde_json::{Value, json};

#[test]
fn a_loop_ends_with_a_pass() {
    let (project, judge) = judged();
    let mut client = Client::new(&project);
    let work = json!({ "files": ["a.md"], "subject": "the text" });
    let first = client.review(work.clone());
    assert_eq!(first["state"], "done");
    assert_eq!((first["outcome"].as_str(), first["exit_code"].as_i64()), (Some("needs_work"), Some(1)));
    assert_eq!(first["passed"], false);
    assert_eq!(first["findings"][0]["feedback"], "there is a BAD word");
    assert_eq!(first["review"]["subject"], "mcp/the%20text");
    assert!(first["next"][0].as_str().unwrap().contains("review_submit"));
    project.write("a.md", "a good text\n");
    let second = client.review(work);
    assert_eq!((second["passed"].as_bool(), second["review"]["round"].as_u64()), (Some(true), Some(2)));
    assert_eq!(second["review"]["id"], first["review"]["id"]);
    assert_eq!(judge.asked().len(), 2);
    // What `show` says of it is the same.
    let shown = project.run(&["show", "--json"]).exits(0).json();
    for key in ["findings", "waived", "assignments", "cost", "redacted"] {
        assert_eq!(shown[key], second[key], "{key}");
    }
    let without_time = |review: &Value| {
        let mut review = review.clone();
        // That it was read is recorded after it was told.
        review["changed_at"].take();
        review
    };
    assert_eq!(without_time(&shown["review"]), without_time(&second["review"]));
}

/// Issue 15, item 4.
#[test]
fn issue_15_4_findings_have_their_place() {
    let project = project();
    project.write("a.md", "one\ntwo\n");
    let stated = json!([{ "message": "good", "line": 2 }, { "message": "beyond", "line": 9 }]);
    let result = json!({ "criterion": "Complete", "passed": false, "findings": stated });
    let reply = json!({ "passed": false, "feedback": "f", "criteria_results": [result] });
    Judge::replying(&project, &reply.to_string());
    configure(&project, "");
    let verdict = Client::new(&project).review(json!({ "files": ["a.md"], "subject": "s" }));
    let findings = &verdict["findings"][0]["findings"];
    assert_eq!(findings[0]["location"], json!({ "file": "a.md", "line": 2, "end_line": null }), "{verdict}");
    assert_eq!(findings[1]["location_dropped"], "line 9: the file has 2 lines");
    let lines = json!({ "first_line": 1, "lines": ["one", "two"], "is_current": true });
    assert_eq!(
        (&findings[0]["excerpt"], &findings[1]["excerpt"]),
        (&lines, &Value::Null),
        "issue 18, item 5"
    );
}

#[test]
fn unchanged_work_runs_out_of_attempts_and_stays_stopped() {
    let (project, judge) = judged();
    let mut client = Client::new(&project);
    let work = json!({ "files": ["a.md"], "subject": "s" });
    let mut outcomes = vec![];
    for _ in 0..4 {
        let verdict = client.review(work.clone());
        outcomes.push((verdict["outcome"].clone(), verdict["review"]["round"].clone()));
    }
    let expected = [("needs_work", 1), ("needs_work", 2), ("stopped", 3), ("stopped", 3)];
    assert_eq!(outcomes, expected.map(|(outcome, round)| (json!(outcome), json!(round))));
    assert_eq!(judge.asked().len(), 1);
}

#[test]
fn an_answer_that_nobody_got_is_given_again() {
    let (project, _) = judged();
    let work = json!({ "files": ["a.md"], "subject": "s" });
    let mut client = Client::new(&project);
    let handle = client.good("review_submit", work.clone());
    // Read over the command line, which tells the client nothing.
    countersign_testkit::eventually("a verdict", || {
        project.run(&["show", "--json"]).json()["review"]["outcome"] == "needs_work"
    });
    drop(client);
    let mut client = Client::new(&project);
    let again = client.good("review_submit", work);
    assert_eq!((&again["review"], &again["round"]), (&handle["review"], &json!(1)));
    assert_eq!((&again["state"], &again["outcome"]), (&json!("done"), &json!("needs_work")));
}

#[test]
fn criteria_of_ones_own_weigh_what_they_say() {
    let project = project();
    let reply = r#"{"passed": false, "feedback": "f", "criteria_results": [
        {"criterion": "Complete", "passed": true, "feedback": "fine"},
        {"criterion": "Pretty", "passed": false, "feedback": "dull"}]}"#;
    let judge = Judge::replying(&project, reply);
    configure(&project, "");
    project.write("a.txt", "a\n").write("b.txt", "b\n");
    let mut client = Client::new(&project);
    let work = |severity: &str, each: bool| {
        json!({
            "files": ["a.txt", "b.txt"], "each_file": each, "guidance": "Be kind.", "notes": "A first try.",
            "criteria": [{ "name": "Complete", "ask": "Is it?" }, { "name": "Pretty", "ask": "Is it?", "severity": severity }],
        })
    };
    let advice = client.review(work("may", false));
    assert_eq!((&advice["passed"], &advice["waived"][0]["criterion"]), (&json!(true), &json!("Pretty")));
    assert_eq!(judge.asked().len(), 1);
    let blocked = client.review(work("should", true));
    assert_eq!(blocked["outcome"], "needs_work");
    assert_eq!(blocked["findings"].as_array().unwrap().len(), 2);
    assert_eq!(judge.asked().len(), 3);
}

#[test]
fn without_anything_the_rules_of_the_project_are_asked() {
    let (project, judge) = judged();
    project.write("b.md", "fine\n").write("c.txt", "no rule\n");
    let mut client = Client::new(&project);
    assert_eq!(client.review(json!({}))["assignments"].as_array().unwrap().len(), 2);
    assert_eq!(client.review(json!({ "files": ["."] }))["assignments"].as_array().unwrap().len(), 2);
    assert_eq!(judge.asked().len(), 2);
}

#[test]
fn a_configuration_that_is_edited_is_seen_at_once() {
    let (project, judge) = judged();
    let mut client = Client::new(&project);
    assert_eq!(client.review(json!({}))["outcome"], "needs_work");
    project.write("countersign.yml", "version: 1\nrules: [");
    let error = client.bad("review_submit", json!({}));
    assert_eq!(error["kind"], "configuration");
    assert!(
        error["line"].is_u64() && error["file"].as_str().unwrap().ends_with("countersign.yml"),
        "{error}"
    );
    configure(&project, "policy: {blocking: [{from_round: 1, severity: must}]}\n");
    // The reviewer is another program now. What the old one failed stands on its bytes, so these change too.
    let judge_file = project.judges().join("judge.sh");
    std::fs::write(judge_file, "#!/bin/sh\ncat >/dev/null\nprintf '{\"passed\": true, \"feedback\": \"f\", \"criteria_results\": [{\"criterion\": \"Complete\", \"passed\": true, \"feedback\": \"fine\"}]}'\n").unwrap();
    assert_eq!(client.review(json!({}))["passed"], false);
    project.write("a.md", "BAD in other words\n");
    assert_eq!(client.review(json!({}))["passed"], true);
    assert_eq!(judge.asked().len(), 1);
}
