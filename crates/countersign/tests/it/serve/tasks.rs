//! Tasks over HTTP move as those of the commands do.

use super::Server;
use crate::task::{says, started};
use countersign_testkit::eventually;
use serde_json::json;

#[test]
fn a_task_goes_its_way() {
    let (project, _, _) = started("");
    let server = Server::start(&project);
    let planned = server.get("/v1/tasks").json();
    assert_eq!((&planned["tasks"][0]["id"], planned["tasks"].as_array().unwrap().len()), (&json!("1.1"), 2));
    let new = json!({ "title": "Paint", "id": "paint", "acceptance": "it is dry" });
    let added = server.post("/v1/tasks", &new);
    assert_eq!((added.status, added.header("location").as_deref()), (201, Some("/v1/tasks/paint")));
    assert_eq!(server.post("/v1/tasks", &new).status, 201, "the same again is the same task");
    assert_eq!(server.post("/v1/tasks", &json!({ "title": "Other", "id": "paint" })).status, 409);
    assert_eq!(server.ask("POST", "/v1/tasks/paint/start", None).json()["task"]["status"], "in_progress");
    says(
        &project,
        "Wet.",
        r#"{"result": "NEEDS_REVISION", "issues": ["wet"], "summary": "wet", "blocking": false}"#,
    );
    let sent_back = server.ask("POST", "/v1/tasks/paint/done?wait=100", None);
    let json = sent_back.json();
    assert_eq!(
        (sent_back.status, &json["outcome"], &json["review"]["issues"]),
        (200, &json!("needs_work"), &json!(["wet"]))
    );
    assert_eq!(
        server.get("/v1/tasks/paint").json(),
        project.run(&["task", "show", "paint", "--json"]).exits(0).json()
    );
    says(&project, "Dry.", r#"{"result": "APPROVED", "issues": [], "summary": "dry", "blocking": false}"#);
    project.write("a.md", "three\n");
    let begun = server.ask("POST", "/v1/tasks/paint/review", None);
    assert_eq!(
        (begun.status, &begun.json()["outcome"], &begun.json()["task"]["review_running"]),
        (202, &json!(null), &json!(true))
    );
    eventually("it is complete", || server.get("/v1/tasks/paint").json()["task"]["status"] == "complete");
    let place = server.ask("POST", "/v1/tasks/1.1/done?wait=100", None).json();
    assert_eq!(
        (&place["task"]["status"], &place["task"]["plan"]),
        (&json!("complete"), &json!("PLAN.md")),
        "{place}"
    );
    assert!(project.read("PLAN.md").contains("- [x] **Build walls** `[complete]`"));
}

#[test]
fn a_blocked_task_waits_for_a_person_who_may_decide_here() {
    let (project, _, _) = started("");
    let server = Server::at_terminal(&project);
    says(&project, "No.", r#"{"result": "REJECTED", "issues": [], "summary": "no", "blocking": true}"#);
    let json = server.ask("POST", "/v1/tasks/1.1/review?wait=100", None).json();
    assert_eq!((&json["task"]["status"], &json["exit_code"]), (&json!("blocked"), &json!(6)), "{json}");
    assert!(json["notification"]["title"].as_str().unwrap().contains("Build walls"));
    let refused = server.ask("POST", "/v1/tasks/1.1/review", None);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("blocked")));
    // By its place in the plan, like the commands.
    let review = server.get("/v1/reviews/1.1").json()["review"].clone();
    let decision = json!({ "verb": "approve", "digest": review["digest"], "reason": "good enough" });
    assert_eq!(server.post("/v1/reviews/1.1/decision", &decision).status, 200);
    assert_eq!(server.get("/v1/tasks/1.1").json()["task"]["status"], "complete");
}

#[test]
fn under_another_trigger_the_task_waits() {
    let (project, _, _) = started("review: {trigger: explicit}\n");
    let server = Server::start(&project);
    let waits = server.ask("POST", "/v1/tasks/1.1/done", None);
    let json = waits.json();
    assert_eq!(
        (waits.status, &json["outcome"], &json["task"]["status"]),
        (200, &json!("awaiting_person"), &json!("awaiting_review"))
    );
}
