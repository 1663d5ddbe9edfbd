//! Old clients and new ones.

use crate::client::{Client, NEWEST};
use crate::judged;
use serde_json::{Value, json};

/// Every tool, in the order they are listed in: workflows first.
pub const TOOLS: [&str; 9] = [
    "get_workflows",
    "start_workflow",
    "finished_step",
    "abort_workflow",
    "go_to_step",
    "review_submit",
    "review_wait",
    "review_status",
    "review_decide",
];

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn every_version_with_a_handshake_is_served_as_asked() {
    let (project, _) = judged();
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // There is no handshake in the newest, and nobody knows the others.
        (NEWEST, "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::silent(&project, &[]);
        let server = client.initialize(asked);
        assert_eq!(server["protocolVersion"], given);
        assert_eq!(server["serverInfo"]["name"], "countersign");
        assert_eq!(server["capabilities"], json!({ "tools": {} }));
        assert!(server["instructions"].as_str().unwrap().contains("review_submit"));
        assert!(server["instructions"].as_str().unwrap().contains("start_workflow"));
        let listed = client.request("tools/list", json!({}));
        assert_eq!(names(&listed), TOOLS);
        assert!(listed["result"].get("resultType").is_none());
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        assert_eq!(client.review(json!({ "files": ["a.md"] }))["outcome"], "needs_work");
        assert_eq!(client.hang_up(), (0, String::new()));
    }
}

#[test]
fn the_newest_version_needs_no_handshake() {
    let (project, _) = judged();
    let mut client = Client::silent(&project, &[]);
    client.newest();
    let found = client.request("server/discover", json!({}))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(NEWEST)));
    let listed = client.request("tools/list", json!({}));
    assert_eq!(names(&listed), TOOLS);
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(client.review(json!({ "files": ["a.md"] }))["outcome"], "needs_work");
    assert_eq!(client.request("ping", json!({}))["error"]["code"], -32601);
    assert_eq!(client.hang_up().0, 0);
    // Straight to a tool, without asking what there is.
    let mut client = Client::silent(&project, &[]);
    client.newest();
    assert_eq!(client.good("review_status", json!({}))["more"], false);
}

#[test]
fn who_asks_for_the_newest_may_go_on_with_an_older_one() {
    let (project, _) = judged();
    let mut client = Client::silent(&project, &[]);
    let refused = client.request("server/discover", json!({}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(client.initialize("2025-06-18")["protocolVersion"], "2025-06-18");
    assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
}

#[test]
fn tools_say_what_they_take_and_give() {
    let (project, _) = judged();
    let mut client = Client::new(&project);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().unwrap() {
        for schema in ["inputSchema", "outputSchema"] {
            assert!(jsonschema::meta::is_valid(&tool[schema]), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        let name = tool["name"].as_str().unwrap();
        let read_only = ["get_workflows", "review_wait", "review_status"].contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], read_only);
        assert_eq!(
            tool["annotations"]["destructiveHint"],
            ["abort_workflow", "review_decide"].contains(&name)
        );
    }
    // And what they give is what they say, errors too.
    let schema = |name: &str| {
        let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        jsonschema::validator_for(&tool["outputSchema"]).unwrap()
    };
    let mut good = vec![];
    let handle = client.good("review_submit", json!({ "files": ["a.md"] }));
    let review = handle["review"].clone();
    good.push(("review_submit", handle));
    good.push(("review_wait", client.good("review_wait", json!({ "review": review, "timeout_seconds": 0 }))));
    good.push(("review_wait", client.good("review_wait", json!({ "review": review }))));
    good.push(("review_status", client.good("review_status", json!({ "review": review }))));
    good.push(("review_decide", json!({ "error": client.bad("review_decide", json!({ "review": review, "verb": "approve", "reason": "r" })) })));
    for (name, answer) in good {
        let problems: Vec<String> =
            schema(name).iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        assert!(!schema(name).is_valid(&json!({})), "{name}");
    }
}
