//! Verdicts, what they cost, and a second try where the first reply cannot be used.

use crate::bench::Bench;
use countersign_testkit::{Act, Messages, Running};
use serde_json::json;

#[test]
fn a_pass_and_what_it_cost() {
    let bench = Bench::new(Messages::always(Act::ruling("Complete", true, "fine")));
    let json = bench.review(&[]).exits(0).json();
    assert_eq!(json["outcome"], "passed");
    assert_eq!(json["assignments"][0]["ruled_by"], "claude");
    assert_eq!(
        (json["cost"]["tokens_in"].as_u64(), json["cost"]["tokens_out"].as_u64()),
        (Some(1230), Some(57))
    );
    assert!(json["cost"]["usd"].as_f64().unwrap() > 0.0, "{json}");
    let shown = bench.project.run(&["show", "--json"]).exits(0).json();
    assert_eq!(shown["cost"], json["cost"]);
    assert_eq!(bench.service.asked().len(), 1);
    bench.assert_clean();
    // Unchanged work is not judged twice.
    bench.review(&[]).exits(0);
    assert_eq!(bench.service.asked().len(), 1);
}

#[test]
fn a_failure_is_a_finding_and_an_attempt() {
    let bench = Bench::new(Messages::always(Act::ruling("Complete", false, "the end is missing")));
    let json = bench.review(&[]).exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "the end is missing");
    assert_eq!(json["review"]["attempts"], 1);
    bench.assert_clean();
}

#[test]
fn the_model_that_is_configured_is_asked() {
    let bench = Bench::new(Messages::always(Act::ruling("Complete", true, "")));
    bench.configure(", model: claude-sonnet-4-5", "").run_configured(&[]).exits(0);
    assert_eq!(bench.service.asked()[0].body["model"], "claude-sonnet-4-5");
}

#[test]
fn a_contradiction_is_asked_about_once_more_by_name() {
    let contradiction = Act::answer(json!({
        "passed": false, "feedback": "", "criteria_results": [{ "criterion": "Complete", "passed": true }],
    }));
    let repaired =
        Bench::new(Messages::scripted(vec![contradiction.clone()], Act::ruling("Complete", true, "")));
    repaired.review(&[]).exits(0);
    let asked = repaired.service.asked();
    assert_eq!(asked.len(), 2);
    let words = "could not be used: `passed` is false, and every criterion passed";
    assert!(!asked[0].text.contains(words) && asked[1].text.contains(words), "{}", asked[1].text);

    let stubborn = Bench::new(Messages::always(contradiction));
    let json = stubborn.review(&[]).exits(4).json();
    assert_eq!((json["reason"].as_str(), stubborn.service.asked().len()), (Some("contradictory"), 2));
    assert_eq!(json["review"]["attempts"], 0);
    stubborn.assert_clean();
}

#[test]
fn a_pass_without_rulings_is_none() {
    let bench = Bench::new(Messages::always(Act::answer(json!({ "passed": true, "feedback": "all good" }))));
    let json = bench.review(&[]).exits(4).json();
    assert_eq!(json["reason"], "garbled");
}

#[test]
fn a_busy_service_is_asked_again_as_it_wishes() {
    let busy = Act::error(529, "overloaded_error", "Overloaded");
    let wait =
        Act::Error { status: 429, kind: "rate_limit_error", message: "slow down", retry_after: Some(1) };
    for (first, asked) in [(vec![busy], 2), (vec![wait], 2), (vec![Act::Cut], 2)] {
        let bench = Bench::new(Messages::scripted(first, Act::ruling("Complete", true, "")));
        bench.review(&[]).exits(0);
        assert_eq!(bench.service.asked().len(), asked);
    }
}

/// Another service in the place of the vendor's: its pass does not count where the vendor's is asked.
#[test]
fn fake_service_at_a_base_url_leaves_nothing_that_is_reused() {
    let honest = Bench::new(Messages::always(Act::ruling("Complete", false, "found it")));
    let fake = Messages::always(Act::ruling("Complete", true, ""));
    let mut command = honest.command(&ASKED);
    command.env("ANTHROPIC_BASE_URL", fake.url());
    Running::start(&mut command).wait().exits(0);
    assert_eq!(fake.asked().len(), 1);
    for _ in 0..2 {
        Running::start(&mut honest.command(&ASKED)).wait().exits(1);
    }
    assert_eq!(honest.service.asked().len(), 1, "its own ruling stands");
}

/// A question under no subject.
const ASKED: [&str; 6] =
    ["review", "a.md", "--criterion", "Complete=Is it complete?", "--reviewer", "claude"];
