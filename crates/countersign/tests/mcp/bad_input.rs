//! Whatever is wrong with a call is told clearly, and changes nothing.

use crate::client::Client;
use crate::{judged, recorded};
use serde_json::{Value, json};

#[test]
fn every_bad_argument_is_a_clear_tool_error() {
    let (project, judge) = judged();
    let mut client = Client::new(&project);
    let review = client.review(json!({ "files": ["a.md"], "subject": "s" }))["review"]["id"].clone();
    let before = recorded(&project);
    std::os::unix::fs::symlink("/etc/passwd", project.path("out.md")).unwrap();
    let huge = "x".repeat(10_000_000);
    let long = |bytes: usize| "x".repeat(bytes);
    let criterion = json!([{ "name": "Complete", "ask": "Is it?" }]);
    let many: Vec<String> = (0..10_001).map(|n| format!("{n}.md")).collect();
    let rows: Vec<(&str, Value, &str)> = vec![
        // Missing.
        ("review_wait", json!({}), "missing field `review`"),
        ("review_decide", json!({}), "missing field"),
        ("review_decide", json!({ "review": review, "verb": "approve" }), "missing field `reason`"),
        ("review_submit", json!({ "criteria": criterion }), "`criteria` needs `files` to judge"),
        (
            "review_submit",
            json!({ "criteria": [{ "name": "x" }], "files": ["a.md"] }),
            "`criteria[0]`: missing field `ask`",
        ),
        // Of the wrong type.
        ("review_submit", json!({ "files": "a.md" }), "`files`: invalid type: string"),
        ("review_submit", json!({ "files": [3] }), "`files[0]`: invalid type: integer"),
        ("review_submit", json!({ "files": ["a.md"], "criteria": "x" }), "`criteria`: invalid type"),
        ("review_submit", json!({ "files": ["a.md"], "notes": {} }), "`notes`: invalid type"),
        ("review_submit", json!({ "files": ["a.md"], "subject": 1 }), "`subject`: invalid type"),
        (
            "review_submit",
            json!({ "files": ["a.md"], "criteria": criterion, "each_file": "yes" }),
            "`each_file`: invalid type",
        ),
        ("review_wait", json!({ "review": 3 }), "`review`: invalid type"),
        (
            "review_wait",
            json!({ "review": review, "timeout_seconds": -1 }),
            "`timeout_seconds`: invalid value",
        ),
        (
            "review_wait",
            json!({ "review": review, "timeout_seconds": 1.5 }),
            "`timeout_seconds`: invalid type",
        ),
        ("review_wait", json!({ "review": review, "timeout_seconds": 3601 }), "at most 3600"),
        ("review_status", json!({ "review": [] }), "`review`: invalid type"),
        ("review_decide", json!({ "review": review, "verb": 1, "reason": "r" }), "`verb`"),
        // Unknown names.
        ("review_submit", json!({ "file": ["a.md"] }), "unknown field `file`"),
        ("review_wait", json!({ "review": review, "timeout": 3 }), "unknown field `timeout`"),
        ("review_status", json!({ "id": "x" }), "unknown field `id`"),
        (
            "review_decide",
            json!({ "review": review, "verb": "bless", "reason": "r" }),
            "unknown variant `bless`",
        ),
        (
            "review_submit",
            json!({ "files": ["a.md"], "criteria": [{ "name": "x", "ask": "y", "severity": "high" }] }),
            "unknown variant `high`",
        ),
        ("review_wait", json!({ "review": "rv-nothing" }), "there is no review `rv-nothing`"),
        ("review_status", json!({ "review": "nothing" }), "there is no review `nothing`"),
        ("review_submit", json!({ "files": ["gone.md"] }), "gone.md"),
        // Too long, empty, too many.
        ("review_submit", json!({ "files": [huge] }), "at most 1048576"),
        ("review_submit", json!({ "files": ["a.md"], "notes": huge }), "`notes` has 10000000 bytes"),
        ("review_submit", json!({ "files": ["a.md"], "subject": huge }), "at most 1048576"),
        ("review_wait", json!({ "review": huge }), "at most 1048576"),
        ("review_status", json!({ "review": huge }), "at most 1048576"),
        ("review_decide", json!({ "review": review, "verb": "withdraw", "reason": huge }), "at most 1048576"),
        ("review_submit", json!({ "files": [long(4097)] }), "`files[0]` has 4097 bytes"),
        ("review_submit", json!({ "files": ["a.md"], "subject": long(201) }), "`subject` has 201 bytes"),
        ("review_submit", json!({ "files": many }), "`files` has 10001 entries"),
        (
            "review_submit",
            json!({ "files": ["a.md"], "criteria": [{ "name": long(201), "ask": "y" }] }),
            "`criteria[0].name` has 201",
        ),
        (
            "review_submit",
            json!({ "files": ["a.md"], "criteria": [{ "name": " ", "ask": "y" }] }),
            "`criteria[0].name` is empty",
        ),
        (
            "review_submit",
            json!({ "files": ["a.md"], "criteria": [{ "name": "x", "ask": "y" }, { "name": "**X**:", "ask": "z" }] }),
            "has the same name as",
        ),
        ("review_submit", json!({ "files": [""] }), "`files[0]` is empty"),
        ("review_submit", json!({ "files": ["a.md"], "subject": " " }), "`subject` is empty"),
        (
            "review_submit",
            json!({ "files": ["a.md"], "guidance": "g" }),
            "can be used only together with `criteria`",
        ),
        ("review_wait", json!({ "review": "" }), "`review` is empty"),
        ("review_decide", json!({ "review": review, "verb": "withdraw", "reason": "" }), "`reason` is empty"),
        // NUL, and ways out.
        ("review_submit", json!({ "files": ["a.md\0"] }), "`files[0]` holds a NUL"),
        ("review_submit", json!({ "files": ["a.md"], "notes": "\0" }), "`notes` holds a NUL"),
        ("review_submit", json!({ "files": ["a.md"], "subject": "a\0b" }), "`subject` holds a NUL"),
        ("review_wait", json!({ "review": "rv-\0" }), "`review` holds a NUL"),
        (
            "review_decide",
            json!({ "review": review, "verb": "withdraw", "reason": "\0" }),
            "`reason` holds a NUL",
        ),
        ("review_submit", json!({ "files": ["../../etc/passwd"] }), "outside"),
        ("review_submit", json!({ "files": ["/etc/passwd"] }), "outside"),
        ("review_submit", json!({ "files": ["out.md"] }), "outside"),
        ("review_wait", json!({ "review": "../../etc/passwd" }), "there is no review"),
        ("review_status", json!({ "review": "../x" }), "there is no review"),
        (
            "review_decide",
            json!({ "review": "../x", "verb": "withdraw", "reason": "r" }),
            "there is no review",
        ),
        ("review_wait", json!({ "review": "%" }), "there is no review"),
        ("review_wait", json!({ "review": "rv-_" }), "there is no review"),
    ];
    for (tool, arguments, says) in rows {
        let error = client.bad(tool, arguments.clone());
        let shown: String = arguments.to_string().chars().take(200).collect();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool} {shown}\nsaid: {message}");
        assert!(message.len() < 2000, "{tool} {shown}");
        assert_eq!(error["kind"], "usage", "{tool} {shown}: {error}");
    }
    assert_eq!(recorded(&project), before);
    assert_eq!(judge.asked().len(), 1);
    // A subject is a name, not a path.
    let named = client.review(json!({ "files": ["a.md"], "subject": "../../x" }));
    assert_eq!(named["review"]["subject"], "mcp/..%2F..%2Fx");
}

#[test]
fn in_a_new_project_a_bad_call_makes_no_ledger() {
    let (project, _) = judged();
    let mut client = Client::new(&project);
    client.bad("review_wait", json!({ "review": "rv-x" }));
    client.bad("review_status", json!({ "review": "rv-x" }));
    client.bad("review_decide", json!({ "review": "rv-x", "verb": "withdraw", "reason": "r" }));
    assert_eq!(client.good("review_status", json!({}))["reviews"], json!([]));
    client.bad("review_submit", json!({ "files": 3 }));
    assert!(!project.ledger_dir().exists());
}

#[test]
fn what_is_not_the_protocol_is_answered_or_passed_over() {
    let (project, _) = judged();
    let mut client = Client::silent(&project, &[]);
    // Before anything was said.
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    client.line("this is not JSON");
    client.line("");
    client.initialize("2025-06-18");
    client.line("{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": 3}");
    assert_eq!(client.answer(77)["error"]["code"], -32600);
    client.line("[1, 2");
    for (method, params, code) in [
        ("tools/call", json!({ "name": "review_sbumit" }), -32602),
        ("tools/call", json!({ "name": 3 }), -32602),
        ("tools/call", json!({ "name": "review_wait", "arguments": [] }), -32602),
        ("tools/call", json!({}), -32602),
        ("prompts/list", json!({}), -32601),
        ("resources/list", json!({}), -32601),
        ("resources/templates/list", json!({}), -32601),
        ("completion/complete", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("tools/bless", json!({}), -32601),
    ] {
        let answer = client.request(method, params.clone());
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    let unknown = client.request("tools/call", json!({ "name": "review_sbumit" }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("review_submit"), "{unknown}");
    let long = json!({ "jsonrpc": "2.0", "id": 5000, "method": "tools/list", "params": { "x": "y".repeat(17_000_000) } });
    client.line(&long.to_string());
    let refused = client.answer_to_nobody();
    assert_eq!(refused["error"]["code"], -32600);
    assert!(refused["error"]["message"].as_str().unwrap().contains("16777216 bytes"));
    assert_eq!(client.good("review_status", json!({}))["reviews"], json!([]));
    let (code, said) = client.hang_up();
    assert_eq!(code, 0);
    assert_eq!(said.lines().count(), 2, "{said}");
}
