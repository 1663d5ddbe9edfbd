//! Verdicts, what they cost, and a second try where the first reply cannot be used.

use super::{always, configured};
use countersign_testkit::{Act, Responses};
use serde_json::{Value, json};

#[test]
fn a_pass_and_what_it_cost() {
    let bench = always(Act::ruling("Complete", true, "fine"));
    let json = bench.run_configured(&[]).exits(0).json();
    assert_eq!((&json["outcome"], &json["assignments"][0]["ruled_by"]), (&json!("passed"), &json!("main")));
    let tokens = (json["cost"]["tokens_in"].as_u64(), json["cost"]["tokens_out"].as_u64());
    assert_eq!(tokens, (Some(1200), Some(57)));
    assert_eq!(json["cost"]["usd"], Value::Null, "it does not say what it cost");
    let shown = bench.project.run(&["show", "--json"]).exits(0).json();
    assert_eq!(shown["cost"], json["cost"]);
    bench.assert_clean();
    // Unchanged work is not judged twice.
    bench.run_configured(&[]).exits(0);
    assert_eq!(bench.service.asked().len(), 1);
}

#[test]
fn a_failure_is_a_finding_and_an_attempt() {
    let bench = always(Act::ruling("Complete", false, "the end is missing"));
    let json = bench.run_configured(&[]).exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "the end is missing");
    assert_eq!(json["review"]["attempts"], 1);
    bench.assert_clean();
}

/// The schema is one that the service takes, and the model the one that is configured, whatever it is called.
#[test]
fn the_question_is_put_as_configured() {
    let bench = always(Act::ruling("Complete", true, ""));
    bench.configure(", model: 'a\"b {c}'", "").run_configured(&[]).exits(0);
    let asked = &bench.service.asked()[0];
    assert_eq!(asked.body["model"], "a\"b {c}");
    assert!(asked.headers.contains("Bearer sk-test"), "{}", asked.headers);
    let format = &asked.body["text"]["format"];
    assert_eq!(format["strict"], true);
    assert_eq!(format["schema"]["required"], json!(["passed", "feedback", "criteria_results"]));
    assert_eq!(format["schema"]["additionalProperties"], false);
}

#[test]
fn a_contradiction_is_asked_about_once_more_by_name() {
    let contradiction = Act::answer(json!({
        "passed": false, "feedback": "",
        "criteria_results": [{ "criterion": "Complete", "passed": true, "feedback": null }],
    }));
    let repaired = Responses::scripted(vec![contradiction.clone()], Act::ruling("Complete", true, ""));
    let repaired = configured(repaired);
    repaired.run_configured(&[]).exits(0);
    let asked = repaired.service.asked();
    assert_eq!(asked.len(), 2);
    let words = "could not be used: `passed` is false, and every criterion passed";
    assert!(!asked[0].text.contains(words) && asked[1].text.contains(words), "{}", asked[1].text);

    let stubborn = always(contradiction);
    let json = stubborn.run_configured(&[]).exits(4).json();
    assert_eq!((json["reason"].as_str(), stubborn.service.asked().len()), (Some("contradictory"), 2));
    assert_eq!(json["review"]["attempts"], 0);
    stubborn.assert_clean();
}

#[test]
fn a_busy_service_is_asked_again_as_it_wishes() {
    let wait = Act::Error { status: 429, kind: "rate_limit_exceeded", message: "slow", retry_after: Some(1) };
    // A reply that broke off was paid for: it is asked for again by the next submission, as with services.
    for (first, code, asked) in [(Act::error(500, "server_error", "x"), 0, 2), (wait, 0, 2), (Act::Cut, 4, 1)]
    {
        let bench = configured(Responses::scripted(vec![first], Act::ruling("Complete", true, "")));
        bench.run_configured(&[]).exits(code);
        assert_eq!(bench.service.asked().len(), asked);
    }
}
