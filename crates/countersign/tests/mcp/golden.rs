//! The keys of the answers of the general tools, and of a workflow in `status`: what the golden file has is still there.

use crate::client::Client;
use crate::{decide, go, jobs, judged, slow};
use countersign_testkit::Golden;
use serde_json::json;

fn golden(name: &str) -> Golden {
    Golden::at(format!("{}/tests/mcp/golden/{name}.txt", env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn issue_15_3_answers_of_the_general_tools_keep_their_keys() {
    let mut golden = golden("tools");
    let (waits, _judge) = slow();
    let mut client = Client::new(&waits);
    golden.take("review_status, empty", &client.good("review_status", json!({})));
    golden.take("review_submit", &client.good("review_submit", json!({ "subject": "x" })));
    golden.take(
        "review_wait, running",
        &client.good("review_wait", json!({ "review": "mcp/x", "timeout_seconds": 0 })),
    );
    go(&waits);
    client.good("review_wait", json!({ "review": "mcp/x", "timeout_seconds": 60 }));
    let (project, _judge) = judged();
    let mut client = Client::new(&project);
    let failed = client.review(json!({ "subject": "x" }));
    golden.take("review_wait", &failed);
    let id = failed["review"]["id"].clone();
    golden.take("review_status", &client.good("review_status", json!({})));
    golden.take("review_status ID", &client.good("review_status", json!({ "review": id })));
    let approve = json!({ "review": id, "verb": "approve", "reason": "because" });
    golden.take("an error", &client.bad("review_decide", approve.clone()));
    decide::allow(&project);
    project.trust();
    golden.take("review_decide", &client.good("review_decide", approve));
    golden.holds();
}

#[test]
fn issue_15_3_a_workflow_in_status_keeps_its_keys() {
    let (project, _judge) = jobs::guide();
    let mut client = Client::new(&project);
    client
        .good("start_workflow", json!({ "goal": "a guide", "job_name": "guide", "workflow_name": "write" }));
    let mut golden = golden("status");
    golden.take("status", &project.run(&["status", "--json"]).exits(0).json());
    golden.holds();
}
