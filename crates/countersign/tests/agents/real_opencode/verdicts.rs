//! Verdicts, what they cost, and a second try where the first reply cannot be used.

use super::{bench, passing};
use countersign_testkit::{Act, Chat};
use serde_json::json;

#[test]
fn a_pass_and_what_it_cost() {
    let bench = passing();
    let json = bench.run_configured(&[]).exits(0).json();
    assert_eq!(
        (json["outcome"].as_str(), json["assignments"][0]["ruled_by"].as_str()),
        (Some("passed"), Some("main"))
    );
    let cost = &json["cost"];
    assert_eq!((cost["tokens_in"].as_u64(), cost["tokens_out"].as_u64()), (Some(1200), Some(57)), "{cost}");
    assert!(cost["usd"].is_null(), "the price of this model is not known: {cost}");
    assert_eq!(bench.project.run(&["show", "--json"]).exits(0).json()["cost"], *cost);
    let asked = bench.service.asked();
    assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/v1/chat/completions"));
    assert_eq!(asked[0].body["model"], "vendor/gpt-test");
    assert!(
        asked[0].headers.to_lowercase().contains("authorization: bearer sk-test"),
        "{}",
        asked[0].headers
    );
    bench.assert_clean();
    // Unchanged work is not judged twice.
    bench.run_configured(&[]).exits(0);
    assert_eq!(bench.service.asked().len(), 1);
}

#[test]
fn a_contradiction_is_asked_about_once_more_and_a_failure_is_a_finding() {
    let contradiction = Act::answer(json!({
        "passed": false, "feedback": "", "criteria_results": [{ "criterion": "Complete", "passed": true }],
    }));
    let failure = Act::ruling("Complete", false, "the end is missing");
    let bench = bench(Chat::scripted(vec![contradiction], failure));
    let json = bench.run_configured(&[]).exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "the end is missing");
    assert_eq!(
        (json["review"]["attempts"].as_u64(), json["cost"]["tokens_in"].as_u64()),
        (Some(1), Some(2400))
    );
    let asked = bench.service.asked();
    assert_eq!(asked.len(), 2);
    let words = "could not be used: `passed` is false, and every criterion passed";
    assert!(!asked[0].text.contains(words) && asked[1].text.contains(words), "{}", asked[1].text);
    bench.assert_clean();
}
