//! What is looked at is what the commands print.

use super::{Server, handed_in, judged};
use countersign_testkit::Project;
use serde_json::{Value, json};

fn printed(project: &Project, args: &[&str]) -> Value {
    project.run(&[args, &["--json"]].concat()).exits(0).json()
}

#[test]
fn answers_are_those_of_the_commands() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    // Looking makes no ledger.
    assert_eq!(server.get("/v1/reviews").json()["reviews"], json!([]));
    assert_eq!(server.get("/v1/status").json(), printed(&project, &["status"]));
    assert_eq!(server.get("/v1/tasks").json(), printed(&project, &["task", "list"]));
    assert_eq!(server.get("/v1/reviews/rv-1").status, 404);
    assert!(!project.ledger_path("ledger.db").exists());
    let id = handed_in(&server, "guide")["review"]["id"].as_str().unwrap().to_owned();
    for name in [id.as_str(), &id[..6], &id[3..8], "http%2Fguide"] {
        let mut json = server.get(&format!("/v1/reviews/{name}")).json();
        assert_eq!(json.as_object_mut().unwrap().remove("state"), Some(json!("done")));
        // The command did its work whatever it shows; over HTTP no process ends, and the code is the review's.
        let mut shown = printed(&project, &["show", &id]);
        assert_eq!((json["exit_code"].take(), shown["exit_code"].take()), (json!(1), json!(0)));
        // Only the command looks up what gates count.
        assert_eq!(
            (json["gates"].take(), shown["gates"].take()["count"].clone()),
            (json!(null), json!(false))
        );
        assert_eq!(json, shown, "{name}");
    }
    assert_eq!(server.get("/v1/status").json(), printed(&project, &["status"]));
    let events = server.get(&format!("/v1/reviews/{id}/events")).json();
    assert_eq!(events["events"], printed(&project, &["log", &id, "-n", "200"])["events"]);
    let later = server.get(&format!("/v1/reviews/{id}/events?after=2&limit=1")).json();
    assert_eq!((&later["events"][0], &later["more"]), (&events["events"][2], &json!(true)));
}

/// Everything a review can have is described: [`Server::get`] would say otherwise.
#[test]
fn a_review_with_a_dispute_a_lift_and_a_decision_is_as_it_is_described() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    let review = handed_in(&server, "s");
    let (id, finding) =
        (review["review"]["id"].as_str().unwrap(), review["findings"][0]["id"].as_str().unwrap());
    project.run(&["dispute", finding, "--evidence", "look again"]).exits(1);
    for verb in ["reject", "unblock", "approve"] {
        let decision = json!({ "verb": verb, "digest": review["review"]["digest"], "reason": "so it is" });
        assert_eq!(server.post(&format!("/v1/reviews/{id}/decision"), &decision).status, 200, "{verb}");
    }
    let shown = server.get(&format!("/v1/reviews/{id}")).json()["review"].clone();
    let many = |key: &str| shown[key].as_array().unwrap().len();
    assert_eq!((many("disputes"), many("lifts"), many("decisions")), (1, 1, 2), "{shown}");
}

#[test]
fn reviews_are_listed_page_by_page() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    let mut made: Vec<Value> = ["a", "b", "c", "a%2Fb", "d"]
        .iter()
        .map(|subject| handed_in(&server, subject)["review"]["id"].clone())
        .collect();
    made.reverse();
    let (mut listed, mut before) = (vec![], String::new());
    loop {
        let page = server.get(&format!("/v1/reviews?limit=2{before}")).json();
        let rows = page["reviews"].as_array().unwrap();
        assert!(rows.len() <= 2);
        listed.extend(rows.iter().map(|row| row["id"].clone()));
        assert_eq!(page["more"].as_bool().unwrap(), page["next_before"].is_number());
        match page["next_before"].as_u64() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(listed, made);
    let of = |query: &str| {
        let page = server.get(&format!("/v1/reviews?{query}")).json();
        page["reviews"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("subject=http%2Fb"), [made[3].clone()]);
    assert_eq!(of("subject=http%2Fnone"), Vec::<Value>::new());
    assert_eq!(of("open=true").len(), 5);
    let show = server.get(&format!("/v1/reviews/{}", made[3].as_str().unwrap())).json();
    let withdraw = json!({ "verb": "reject", "digest": show["review"]["digest"], "reason": "no" });
    let path = format!("/v1/reviews/{}/decision", made[3].as_str().unwrap());
    assert_eq!(server.post(&path, &withdraw).status, 200);
    assert_eq!(of("open=true").len(), 4);
    assert_eq!((of("open=true&subject=http%2Fb").len(), of("open=false&subject=http%2Fb").len()), (0, 1));
}

/// A client that reads `outcome` or `exit_code` of a review that needs work reads no pass.
#[test]
fn a_review_that_needs_work_is_not_answered_as_passed() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    let read = |json: &Value| (json["outcome"].clone(), json["reason"].clone(), json["exit_code"].clone());
    let id = handed_in(&server, "bad")["review"]["id"].as_str().unwrap().to_owned();
    for query in ["", "?wait=5"] {
        let json = server.get(&format!("/v1/reviews/{id}{query}")).json();
        assert_eq!(read(&json), (json!("needs_work"), Value::Null, json!(1)), "{json}");
        assert_eq!(json["review"]["outcome"], "needs_work");
    }
    project.write("a.md", "good\n");
    let id = handed_in(&server, "good")["review"]["id"].as_str().unwrap().to_owned();
    let json = server.get(&format!("/v1/reviews/{id}")).json();
    assert_eq!(read(&json), (json!("passed"), Value::Null, json!(0)), "{json}");
}

/// A task that is not over has no outcome yet.
#[test]
fn a_task_that_is_not_complete_is_not_answered_as_passed() {
    let (project, _) = judged();
    project.write("PLAN.md", "### Phase 1: P\n\n- [ ] **Walls** `[blocked]`\n- [x] **Roof** `[complete]`\n");
    let server = Server::at_terminal(&project);
    let outcome = |id: &str| server.get(&format!("/v1/tasks/{id}")).json()["outcome"].clone();
    assert_eq!((outcome("1.1"), outcome("1.2")), (Value::Null, json!("passed")));
}
