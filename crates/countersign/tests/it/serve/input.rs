//! What is no request is refused with everything left as it was.

use super::{Server, events_of, handed_in, judged};
use countersign_testkit::Repository;
use serde_json::json;

#[test]
fn every_bad_request_has_a_status_and_says_what_is_wrong() {
    let (project, judge) = judged();
    Repository::at(project.root()).commit("first");
    project.trust();
    let server = Server::at_terminal(&project);
    let review = handed_in(&server, "s")["review"].clone();
    let review = review["id"].as_str().unwrap();
    let (before, asked) = (events_of(&project), judge.asked().len());
    let decision = format!("/v1/reviews/{review}/decision");
    let zeros = "0".repeat(64);
    let approve = |more: &str| format!(r#"{{"verb": "approve", "digest": "{zeros}"{more}}}"#);
    let table: Vec<(&str, &str, String, u16, &str)> = vec![
        ("GET", "/v1/reviews?limit=0", String::new(), 400, "`limit` must be a whole number from 1 to 200"),
        ("GET", "/v1/reviews?limit=x", String::new(), 400, "`limit`"),
        ("GET", "/v1/reviews?nothing=1", String::new(), 400, "unknown parameter `nothing`"),
        ("GET", "/v1/reviews?open=yes", String::new(), 400, "true or false"),
        ("GET", "/v1/reviews?limit=1&limit=2", String::new(), 400, "twice"),
        ("GET", "/v1/reviews?subject=%ff", String::new(), 400, "UTF-8"),
        ("GET", "/v1/events?after=-1", String::new(), 400, "`after`"),
        ("GET", "/v1/events?after=1000000", String::new(), 409, "the ledger has no event 1000000"),
        ("GET", "/v1/reviews/rv-nothing", String::new(), 404, "there is no review `rv-nothing`"),
        ("GET", "/v1/reviews/rv-nothing/events", String::new(), 404, "there is no review"),
        ("GET", "/v1/tasks/nothing", String::new(), 404, "there is no task"),
        ("GET", "/v2/reviews", String::new(), 404, "unknown path"),
        ("GET", "/v1/reviews/", String::new(), 404, "unknown path"),
        ("DELETE", "/v1/reviews", String::new(), 405, "does not support DELETE"),
        ("PUT", &decision, String::new(), 405, "does not support PUT"),
        ("POST", "/v1/reviews", String::new(), 400, "not JSON"),
        // Issue 19: a body is an object, also where a list has as many values.
        ("POST", "/v1/reviews", "[]".to_owned(), 400, "the body must be a JSON object"),
        ("POST", "/v1/tasks", r#"["t", null, null, null]"#.to_owned(), 400, "the body must be a JSON object"),
        ("POST", "/v1/tasks", "null".to_owned(), 400, "the body must be a JSON object"),
        ("POST", "/v1/tasks", r#""t""#.to_owned(), 400, "the body must be a JSON object"),
        ("POST", "/v1/reviews", r#"{"files": 3}"#.to_owned(), 400, "`files`"),
        ("POST", "/v1/reviews", r#"{"file": ["a.md"]}"#.to_owned(), 400, "unknown field `file`"),
        ("POST", "/v1/reviews", r#"{"notes": "a", "notes": "b"}"#.to_owned(), 400, "twice"),
        ("POST", "/v1/reviews", r#"{"notes": "\u0000"}"#.to_owned(), 400, "NUL"),
        (
            "POST",
            "/v1/reviews",
            r#"{"files": ["missing.md"]}"#.to_owned(),
            422,
            "`missing.md` does not exist",
        ),
        ("POST", "/v1/reviews", r#"{"files": ["../x"]}"#.to_owned(), 422, ""),
        ("POST", "/v1/reviews", r#"{"files": ["a.md"], "change": {}}"#.to_owned(), 422, "not both"),
        ("POST", "/v1/reviews", r#"{"subject": " "}"#.to_owned(), 422, "`subject` is empty"),
        ("POST", "/v1/reviews?wait=601", "{}".to_owned(), 400, "`wait`"),
        ("POST", "/v1/reviews", "x".repeat(17 * 1024 * 1024), 413, "more than 16777216 bytes"),
        ("POST", &decision, approve(""), 422, "a decision needs a reason"),
        ("POST", &decision, approve(r#", "reason": " ""#), 422, "a decision needs a reason"),
        (
            "POST",
            &decision,
            r#"{"verb": "approve", "digest": "abc", "reason": "r"}"#.to_owned(),
            400,
            "`digest`",
        ),
        ("POST", &decision, r#"{"verb": "bless", "digest": "", "reason": "r"}"#.to_owned(), 400, "`verb`"),
        (
            "POST",
            &decision,
            r#"{"verb": "approve", "reason": "r"}"#.to_owned(),
            400,
            "missing field `digest`",
        ),
        ("POST", "/v1/reviews/rv-nothing/decision", approve(r#", "reason": "r""#), 404, "there is no review"),
        ("POST", "/v1/tasks", r#"{"title": "a\nb"}"#.to_owned(), 422, "one line"),
        ("POST", "/v1/tasks", r#"{"title": "a", "id": "1.2"}"#.to_owned(), 422, "not a valid task id"),
        ("POST", "/v1/tasks/nothing/start", String::new(), 404, "there is no task"),
        ("POST", "/v1/tasks/nothing/done", String::new(), 404, "there is no task"),
    ];
    let bearer = server.bearer();
    for (method, path, body, status, says) in table {
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let answer = server.send(method, path, &headers, &body);
        let shown = &body[..body.len().min(80)];
        assert_eq!(answer.status, status, "{method} {path} {shown}: {answer:?}");
        let json = answer.json();
        assert!(json["error"]["message"].as_str().unwrap().contains(says), "{method} {path} {shown}: {json}");
        assert_eq!((&json["schema"], &json["exit_code"]), (&json!("countersign/1"), &json!(2)), "{json}");
        if status != 405 {
            server.conforms(method, path, &answer);
        }
    }
    let unlabelled = server.send("POST", "/v1/reviews", &[("Authorization", &bearer)], "{}");
    assert_eq!(unlabelled.status, 415, "{unlabelled:?}");
    let not_here = server.send("DELETE", "/v1/reviews", &[("Authorization", &bearer)], "");
    assert_eq!(not_here.header("allow").as_deref(), Some("GET,HEAD,POST"));
    assert_eq!((events_of(&project), judge.asked().len()), (before, asked), "nothing was changed");
}

#[test]
fn a_broken_configuration_is_told_with_its_places() {
    let (project, _) = judged();
    let server = Server::at_terminal(&project);
    project.write("countersign.yml", "version: 1\nrulse: []\n");
    let answer = server.get("/v1/status");
    let error = answer.json()["error"].clone();
    assert_eq!((answer.status, &error["kind"]), (422, &json!("configuration")));
    let lines: Vec<_> =
        error["problems"].as_array().unwrap().iter().map(|problem| problem["line"].clone()).collect();
    assert!(lines.contains(&json!(2)), "{error}");
    // It is read for every request.
    super::configure(&project);
    assert_eq!(server.get("/v1/status").status, 200);
}
