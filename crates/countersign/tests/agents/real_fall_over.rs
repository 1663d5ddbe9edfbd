//! Two real programs of two vendors: the second is asked where the first is not available, and both are named.

use crate::bench::Bench;
use countersign_testkit::{Act, Messages, Responses, Running};

fn limited() -> Act {
    Act::Error {
        status: 429,
        kind: "rate_limit_error",
        message: "This request would exceed your account's rate limit",
        retry_after: Some(3600),
    }
}

/// A project whose first reviewer is claude and whose second is codex, each with its own service.
fn two(first: Act, second: Act) -> (Bench, Responses) {
    let (bench, codex) = (Bench::new(Messages::always(first)), Responses::always(second));
    bench.project.write(
        "countersign.yml",
        format!(
            "version: 1\nreviewers:\n- {{name: first, use: claude}}\n\
             - {{name: second, use: codex, model: m, base_url: '{}/v1', key_env: CODEX_TEST_KEY}}\n\
             rules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it complete?'}}]}}]\n",
            codex.url()
        ),
    );
    (bench, codex)
}

fn review(bench: &Bench) -> Running {
    Running::start(bench.command(&["review", "--subject", "x"]).env("CODEX_TEST_KEY", "sk-codex"))
}

#[test]
fn the_first_is_rate_limited_and_the_second_answers() {
    let (bench, codex) = two(limited(), Act::ruling("Complete", true, "fine"));
    let text = review(&bench).wait().exits(0).stdout;
    assert!(text.contains("first was not available for 1 question, second answered instead"), "{text}");
    assert!(text.contains("rate limit") && text.contains("ruled by second"), "{text}");
    assert_eq!(codex.asked().len(), 1);
    bench.assert_clean();
}

#[test]
fn an_inconvenient_verdict_is_the_verdict() {
    let (bench, codex) =
        two(Act::ruling("Complete", false, "half of it"), Act::ruling("Complete", true, "fine"));
    assert!(review(&bench).wait().exits(1).stdout.contains("half of it"));
    assert_eq!(codex.asked().len(), 0);
}

#[test]
fn with_both_down_each_reason_is_told() {
    let (bench, _codex) = two(limited(), Act::error(401, "invalid_api_key", "Incorrect API key provided"));
    let text = review(&bench).wait().exits(4).stdout;
    assert!(text.contains("first: the account of `claude` reached its rate limit"), "{text}");
    assert!(text.contains("second: the service behind `codex` rejected the key"), "{text}");
    bench.assert_clean();
}
