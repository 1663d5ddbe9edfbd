//! Deciding is for people, unless the user's own file says otherwise.

use crate::client::Client;
use crate::{configure, judged, recorded, slow};
use countersign_testkit::{Project, eventually};
use serde_json::json;

const ALLOWED: &str = "agents_may_decide: true\n";
const USER_FILE: &str = ".config/countersign/config.yml";

/// The user's own file lets agents decide.
pub fn allow(project: &Project) {
    std::fs::create_dir_all(project.home().join(".config/countersign")).unwrap();
    std::fs::write(project.home().join(USER_FILE), ALLOWED).unwrap();
}

#[test]
fn agents_are_refused_and_told_what_to_do() {
    let (project, _) = judged();
    let mut client = Client::new(&project);
    let review = client.review(json!({ "files": ["a.md"], "subject": "s" }))["review"]["id"].clone();
    // That the answer was given is noted after it.
    let id = review.as_str().unwrap();
    eventually("the answer is noted", || {
        let log = project.run(&["log", id, "--json"]).exits(0).json();
        log["events"].as_array().unwrap().last().unwrap()["event"]["kind"] == "notified"
    });
    let before = recorded(&project);
    for verb in ["approve", "skip", "reject", "fix", "unblock"] {
        let error =
            client.bad("review_decide", json!({ "review": review, "verb": verb, "reason": "it is fine" }));
        assert_eq!(error["code"], "people_only");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("review rv-") && hint.contains(" waits for a person"), "{error}");
        assert!(!hint.contains("countersign approve"), "{error}");
    }
    // After a failing round, withdrawing would give all attempts back.
    let error = client.bad("review_decide", json!({ "review": review, "verb": "withdraw", "reason": "r" }));
    assert_eq!(error["code"], "refused");
    assert_eq!(recorded(&project), before);
}

#[test]
fn the_users_own_file_lets_agents_decide_and_names_them() {
    let (project, _) = judged();
    allow(&project);
    project.trust();
    let mut client = Client::new(&project);
    let work = json!({ "files": ["a.md"], "subject": "s" });
    let review = client.review(work)["review"]["id"].clone();
    let decided =
        client.good("review_decide", json!({ "review": review, "verb": "approve", "reason": "known" }));
    assert_eq!((&decided["outcome"], &decided["passed"]), (&json!("overridden"), &json!(true)));
    let decision = &decided["review"]["decisions"][0];
    assert_eq!(decision["by"], "agent via mcp: tester");
    assert_eq!((&decision["person"], &decision["reason"]), (&json!(false), &json!("known")));
    let shown = project.run(&["show"]).exits(0).stdout;
    assert!(shown.contains("an agent, allowed by the user's own file"), "{shown}");
}

/// The same verbs as everywhere, and a review is known by its subject too.
#[test]
fn an_agent_that_may_decide_sends_work_back() {
    let (project, _) = judged();
    allow(&project);
    project.trust();
    let mut client = Client::new(&project);
    let review = client.review(json!({ "files": ["a.md"], "subject": "s" }))["review"].clone();
    let decide = json!({ "review": review["subject"], "verb": "fix", "reason": "the end is missing" });
    let decided = client.good("review_decide", decide.clone());
    assert_eq!((&decided["outcome"], &decided["review"]["id"]), (&json!("needs_work"), &review["id"]));
    assert_eq!(decided["review"]["decisions"][0]["verb"], "fix", "{decided}");
    // The first decision about the same bytes counts.
    let error =
        client.bad("review_decide", json!({ "verb": "approve", "review": review["id"], "reason": "r" }));
    assert_eq!(error["code"], "refused", "{error}");
}

/// An agent can write the user's own file, so it counts as a person trusted it.
#[test]
fn attack_17_an_own_file_that_was_written_after_trust_allows_nothing() {
    for is_trusted in [true, false] {
        let (project, _) = judged();
        if is_trusted {
            project.trust();
        }
        std::fs::create_dir_all(project.home().join(".config/countersign")).unwrap();
        let more = format!("{ALLOWED}policy: {{overrides: allow}}\n");
        std::fs::write(project.home().join(USER_FILE), more).unwrap();
        let mut client = Client::new(&project);
        let review = client.review(json!({ "files": ["a.md"], "subject": "s" }))["review"]["id"].clone();
        for verb in ["approve", "skip", "unblock"] {
            let error = client.bad("review_decide", json!({ "review": review, "verb": verb, "reason": "r" }));
            assert_eq!(error["code"], "people_only", "{error}");
            assert!(error["message"].as_str().unwrap().contains("only as a person trusted it"), "{error}");
        }
    }
    // What a person trusted ends when the file says so no more.
    let (project, _) = judged();
    allow(&project);
    project.trust();
    std::fs::write(project.home().join(USER_FILE), "version: 1\n").unwrap();
    let mut client = Client::new(&project);
    let review = client.review(json!({ "files": ["a.md"], "subject": "s" }))["review"]["id"].clone();
    let decide = json!({ "review": review, "verb": "approve", "reason": "r" });
    assert_eq!(client.bad("review_decide", decide)["code"], "people_only");
    countersign_testkit::attack_row(
        "agents_may_decide written into the user's own file after trust",
        "MCP decide",
        "refused",
        "the answer",
    );
}

/// An agent that starts the server with a home of its own would bring its own permission.
#[test]
fn attack_17_another_home_allows_nothing() {
    let (project, _) = judged();
    let folder = project.path("home/.config/countersign");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.yml"), ALLOWED).unwrap();
    for variable in [("HOME", project.path("home")), ("XDG_CONFIG_HOME", project.path("home/.config"))] {
        let mut client = Client::of(project.command(&["mcp"]).env(variable.0, variable.1));
        client.initialize("2025-11-25");
        let review =
            client.review(json!({ "files": ["a.md"], "subject": variable.0 }))["review"]["id"].clone();
        let decide = json!({ "review": review, "verb": "approve", "reason": "known" });
        assert_eq!(client.bad("review_decide", decide)["code"], "people_only");
    }
    countersign_testkit::attack_row(
        "HOME with a file that allows deputies",
        "MCP decide",
        "refused",
        "the answer",
    );
}

#[test]
fn a_project_cannot_allow_it() {
    let (project, _) = judged();
    configure(&project, ALLOWED);
    let mut client = Client::new(&project);
    let error = client.bad("review_submit", json!({}));
    assert_eq!(error["message"], "`agents_may_decide` cannot be in a project's file");
    assert!(error["hint"].as_str().unwrap().contains("config.yml"), "{error}");
}

#[test]
fn an_agent_may_take_back_what_it_handed_in() {
    let (project, _) = slow();
    let mut client = Client::new(&project);
    let review = client.good("review_submit", json!({ "subject": "s" }))["review"].clone();
    let decided = client
        .good("review_decide", json!({ "review": review, "verb": "withdraw", "reason": "wrong files" }));
    assert_eq!((&decided["outcome"], &decided["reason"]), (&json!("stopped"), &json!("withdrawn")));
}
