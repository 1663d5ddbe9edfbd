//! More calls than a server performs at once.

use crate::client::Client;
use crate::judged;
use countersign_testkit::peak_memory_kib;
use serde_json::json;

const CALLS: usize = 2000;
/// In a debug build, for a call that waits for its turn or whose answer was written.
const KIB_PER_CALL: u64 = 40;

#[test]
fn issue_19_calls_that_wait_for_their_turn_take_little_memory() {
    let (project, _) = judged();
    let mut client = Client::new(&project);
    client.review(json!({ "files": ["a.md"] }));
    let call = || json!({ "name": "review_status", "arguments": {} });
    let answered = |client: &mut Client, calls: usize| {
        let ids: Vec<u64> = (0..calls).map(|_| client.send("tools/call", call())).collect();
        for id in ids {
            let answer = client.answer(id);
            assert!(answer["result"]["structuredContent"]["reviews"].is_array(), "{answer}");
        }
    };
    answered(&mut client, 10);
    let before = peak_memory_kib(client.pid());
    answered(&mut client, CALLS);
    let share = (peak_memory_kib(client.pid()) - before) / CALLS as u64;
    assert!(share < KIB_PER_CALL, "{share} KiB for each of {CALLS} calls");
}
