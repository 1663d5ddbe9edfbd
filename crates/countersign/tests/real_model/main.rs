//! A real small model as the judge, through both APIs. What it finds does not matter; that its rulings are
//! valid does. `cargo xtask test --real-model` starts its server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

use countersign_testkit::Project;
use std::time::Instant;

/// Such a model contradicts itself now and then, and is asked once more each time.
const TRIES: usize = 5;

/// The model rules on one criterion; every end is shown, and one of them must be a verdict.
fn rules_through(api: &str) {
    let url = std::env::var("COUNTERSIGN_REAL_MODEL").expect("run cargo xtask test --real-model");
    let project = Project::new(env!("CARGO_BIN_EXE_countersign"));
    project.write("a.md", "The library opens at nine and closes at five.\n");
    let reviewer =
        format!("{{name: main, use: {api}, model: smollm2, base_url: '{url}/v1', reply_tokens: 700}}");
    project.write(
        "countersign.yml",
        format!(
            "version: 1\nreviewers: [{reviewer}]\nrules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, \
             ask: 'Does the text say when the library opens?'}}]}}]\n"
        ),
    );
    let mut verdicts = 0;
    for _ in 0..TRIES {
        let started = Instant::now();
        let ran = project.run(&["review", "--no-cache", "--json"]);
        let json = ran.json();
        let (outcome, reason, cost) = (&json["outcome"], &json["reason"], &json["cost"]);
        let seconds = started.elapsed().as_secs_f64();
        println!("{api}: {outcome} {reason} in {seconds:.1} s, {cost}");
        assert!(cost["tokens_in"].as_u64() > Some(0) && cost["tokens_out"].as_u64() > Some(0), "{json}");
        match ran.code {
            0 | 1 => verdicts += 1,
            // What a small model may do; anything else is ours.
            4 => assert!(matches!(reason.as_str(), Some("contradictory" | "garbled" | "too_long")), "{json}"),
            code => panic!("exit code {code}: {json}"),
        }
    }
    assert!(verdicts > 0, "{TRIES} tries without a verdict");
}

#[test]
#[ignore = "needs a model: cargo xtask test --real-model"]
fn a_real_model_rules_through_chat_completions() {
    rules_through("openai");
}

#[test]
#[ignore = "needs a model: cargo xtask test --real-model"]
fn a_real_model_rules_through_messages() {
    rules_through("anthropic");
}
