//! Long reviews: handles, progress, joining, giving up.

use crate::client::Client;
use crate::{go, slow};
use countersign_testkit::eventually;
use serde_json::json;

#[test]
fn the_same_again_joins_what_is_under_way() {
    let (project, judge) = slow();
    let mut client = Client::new(&project);
    for work in [json!({ "files": ["a.md"] }), json!({ "files": ["a.md"], "subject": "s", "notes": "n" })] {
        let first = client.good("review_submit", work.clone());
        assert_eq!((&first["state"], &first["attached"]), (&json!("running"), &json!(false)));
        let second = client.good("review_submit", work);
        assert_eq!((&second["review"], &second["attached"]), (&first["review"], &json!(true)));
        let waited = client.good("review_wait", json!({ "review": first["review"], "timeout_seconds": 0 }));
        assert_eq!(
            (&waited["state"], &waited["outcome"], &waited["passed"]),
            (&json!("running"), &json!(null), &json!(false))
        );
        assert_eq!(waited["progress"], json!({ "answered": 0, "questions": 1 }));
    }
    let open = client.good("review_status", json!({}));
    assert_eq!(open["reviews"].as_array().unwrap().len(), 2, "{open}");
    assert!(open["reviews"].as_array().unwrap().iter().all(|review| review["state"] == "running"));
    go(&project);
    for review in open["reviews"].as_array().unwrap() {
        assert_eq!(client.good("review_wait", json!({ "review": review["id"] }))["passed"], true);
    }
    assert_eq!(judge.asked().len(), 2);
    assert_eq!(client.good("review_status", json!({}))["reviews"], json!([]));
}

#[test]
fn who_waits_hears_of_progress_that_grows() {
    let (project, judge) = slow();
    project.write("b.md", "another\n");
    let mut client = Client::new(&project);
    let review = client.good("review_submit", json!({}))["review"].clone();
    let waits = json!({ "name": "review_wait", "arguments": { "review": review }, "_meta": { "progressToken": "tok" } });
    let id = client.send("tools/call", waits);
    while client.notifications.is_empty() {
        client.receive();
    }
    eventually("both are asked", || judge.asked().len() == 2);
    go(&project);
    let answer = client.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["passed"], true, "{answer}");
    let told: Vec<f64> =
        client.notifications.iter().map(|n| n["params"]["progress"].as_f64().unwrap()).collect();
    assert!(!told.is_empty() && told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    for notification in &client.notifications {
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(notification["params"]["progressToken"], "tok");
        assert!(
            notification["params"]["total"].as_f64().unwrap()
                >= notification["params"]["progress"].as_f64().unwrap()
        );
    }
    assert!(client.notifications.iter().any(|n| n["params"]["message"].as_str().unwrap().contains("docs: ")));
    // Who did not ask for it is not told.
    client.notifications.clear();
    client.review(json!({ "files": ["a.md"], "notes": "again" }));
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
}

#[test]
fn a_call_that_is_cancelled_leaves_the_review_running() {
    let (project, judge) = slow();
    let mut client = Client::new(&project);
    let review = client.good("review_submit", json!({}))["review"].clone();
    let id = client.send("tools/call", json!({ "name": "review_wait", "arguments": { "review": review } }));
    client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
    let open = client.good("review_status", json!({ "review": review }));
    assert_eq!(open["reviews"][0]["state"], "running");
    go(&project);
    assert_eq!(client.good("review_wait", json!({ "review": review }))["passed"], true);
    assert_eq!(judge.asked().len(), 1);
    let (code, said) = client.hang_up();
    assert_eq!((code, said.as_str()), (0, ""));
}

#[test]
fn several_calls_are_served_at_once() {
    let (project, _) = slow();
    let mut client = Client::new(&project);
    let review = client.good("review_submit", json!({}))["review"].clone();
    let waits: Vec<u64> = (0..8)
        .map(|_| {
            client.send("tools/call", json!({ "name": "review_wait", "arguments": { "review": review } }))
        })
        .collect();
    assert_eq!(client.good("review_status", json!({}))["reviews"][0]["id"], review);
    go(&project);
    for id in waits {
        assert_eq!(client.answer(id)["result"]["structuredContent"]["passed"], true);
    }
}
