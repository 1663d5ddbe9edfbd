//! Verdicts, what they cost, and a second try where the first reply cannot be used.

use super::{bench, passing};
use countersign_testkit::{Act, Gemini};
use serde_json::json;

#[test]
fn a_pass_and_its_tokens() {
    let bench = passing();
    let json = bench.review(&[]).exits(0).json();
    assert_eq!(
        (json["outcome"].as_str(), json["assignments"][0]["ruled_by"].as_str()),
        (Some("passed"), Some("gemini"))
    );
    assert_eq!(
        (json["cost"]["tokens_in"].as_u64(), json["cost"]["tokens_out"].as_u64()),
        (Some(1230), Some(57))
    );
    assert!(json["cost"]["usd"].is_null(), "{json}");
    let shown = bench.project.run(&["show", "--json"]).exits(0).json();
    assert_eq!(shown["cost"], json["cost"]);
    let asked = bench.service.asked();
    assert_eq!(asked.len(), 1, "nothing is asked beside the question");
    assert!(asked[0].path.contains("-pro"), "what is judged does not choose the model: {}", asked[0].path);
    bench.assert_clean();
    // Unchanged work is not judged twice.
    bench.review(&[]).exits(0);
    assert_eq!(bench.service.asked().len(), 1);
}

/// At the address and with the key and model of the configuration; the user's own key stays here.
#[test]
fn a_failure_from_the_service_that_is_configured() {
    let elsewhere = Gemini::always(Act::ruling("Complete", false, "the end is missing"));
    let bench = bench(Gemini::always(Act::Hang));
    let reviewer = format!(", base_url: '{}', key_env: ITS_KEY, model: gemini-2.5-flash", elsewhere.url());
    bench.configure(&reviewer, "");
    let mut command = bench.command(&["review", "--subject", "x", "--json"]);
    let json = countersign_testkit::Running::start(command.env("ITS_KEY", "its-key")).wait().exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "the end is missing");
    assert_eq!(json["review"]["attempts"], 1);
    let asked = elsewhere.asked();
    assert!(asked[0].path.starts_with("/v1beta/models/gemini-2.5-flash:"), "{}", asked[0].path);
    assert!(asked[0].headers.contains("its-key") && !asked[0].headers.contains("sk-test"));
    assert!(bench.service.asked().is_empty());
    bench.assert_clean();
}

/// The program itself asks a busy service again; we ask again about a contradiction.
#[test]
fn a_contradiction_is_asked_about_once_more_by_name() {
    let busy = Act::error(503, "UNAVAILABLE", "The model is overloaded.");
    let contradiction = Act::answer(json!({
        "passed": false, "feedback": "", "criteria_results": [{ "criterion": "Complete", "passed": true }],
    }));
    let fenced = "```json\n{\"passed\": true, \"feedback\": \"\", \"criteria_results\": [{\"criterion\": \
                  \"Complete\", \"passed\": true, \"feedback\": \"\"}]}\n```";
    let repaired = bench(Gemini::scripted(vec![busy, contradiction], Act::Raw(fenced.to_owned())));
    repaired.review(&[]).exits(0);
    let asked = repaired.service.asked();
    assert_eq!(asked.len(), 3);
    let words = "could not be used: `passed` is false, and every criterion passed";
    assert!(!asked[1].text.contains(words) && asked[2].text.contains(words), "{}", asked[2].text);
}
