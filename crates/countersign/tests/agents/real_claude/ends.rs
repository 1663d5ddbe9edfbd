//! Every way not to answer: each has its name and exit code 4, none is a pass, none costs an attempt, and none
//! leaves a process.

use crate::bench::{Bench, OTHER_KEY, no_verdict};
use countersign_testkit::{Act, Messages};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// What the service does, what comes of it, and how often it was asked at most.
fn ends(act: Act, reason: &str, words: &str, asked_at_most: usize) {
    let bench = Bench::new(Messages::always(act));
    no_verdict(&bench, bench.review(&[]), reason, words);
    let asked = bench.service.asked().len();
    assert!((1..=asked_at_most).contains(&asked), "asked {asked} times");
}

#[test]
fn not_signed_in() {
    ends(Act::error(401, "authentication_error", "invalid x-api-key"), "unavailable", "rejected the key", 4);
    let nobody = Bench { key: None, ..Bench::new(Messages::always(Act::Hang)) };
    no_verdict(&nobody, nobody.review(&[]), "unavailable", "not signed in");
}

#[test]
fn rate_limited_for_long() {
    let act = Act::Error {
        status: 429,
        kind: "rate_limit_error",
        message: "come back at noon",
        retry_after: Some(3600),
    };
    ends(act, "unavailable", "rate limit: submit again later (", 1);
}

#[test]
fn overloaded() {
    ends(Act::error(529, "overloaded_error", "Overloaded"), "unavailable", "overloaded", 4);
}

#[test]
fn server_error() {
    ends(Act::error(500, "api_error", "Internal server error"), "unavailable", "500", 4);
}

#[test]
fn too_long_for_the_model() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum";
    ends(Act::error(400, "invalid_request_error", message), "too_long", "too long", 3);
}

#[test]
fn refused() {
    ends(Act::Say { text: "I would rather not", stop: "refusal" }, "refused", "declined", 4);
}

#[test]
fn out_of_tokens() {
    ends(Act::Say { text: "It is", stop: "max_tokens" }, "too_long", "reply of `claude` was too long", 8);
}

/// It can be read, and it was cut, filtered or put off: the program takes it for an answer all the same.
#[test]
fn attack_a_pass_that_is_not_whole() {
    for (stop, reason, words, asked) in [
        ("max_tokens", "too_long", "it stopped for `max_tokens`", 1),
        ("refusal", "refused", "declined", 4),
        ("pause_turn", "garbled", "it stopped for `pause_turn`", 2),
        ("model_context_window_exceeded", "too_long", "too long", 4),
        ("something_new", "garbled", "it stopped for `something_new`", 2),
    ] {
        ends(Act::pass_stopped("Complete", stop), reason, words, asked);
    }
    for stop in ["tool_use", "end_turn", "stop_sequence"] {
        Bench::new(Messages::always(Act::pass_stopped("Complete", stop))).review(&[]).exits(0);
    }
}

#[test]
fn cut_stream() {
    ends(Act::Cut, "unavailable", "ended early", 10);
}

#[test]
fn no_stream_at_all() {
    ends(Act::Page, "unavailable", "ended early", 10);
}

#[test]
fn not_json() {
    ends(Act::Raw("{\"passed\": tr".to_owned()), "garbled", "form that was asked for", 12);
}

#[test]
fn plain_text() {
    ends(
        Act::Say { text: "It all looks fine to me. passed: true", stop: "end_turn" },
        "garbled",
        "structured",
        6,
    );
}

#[test]
fn empty() {
    ends(Act::Say { text: "", stop: "end_turn" }, "garbled", "structured", 8);
}

#[test]
fn wrong_shape() {
    ends(Act::answer(json!({ "verdict": "passed" })), "garbled", "form that was asked for", 12);
}

#[test]
fn turns() {
    let act = Act::Use { tool: "Glob", input: json!({ "pattern": "*" }) };
    let bench = Bench::new(Messages::always(act));
    bench.configure("", "max_inline_files: 0");
    no_verdict(&bench, bench.run_configured(&[]), "too_long", "within its allowed turns");
}

#[test]
fn nobody_listens() {
    let bench = Bench::new(Messages::always(Act::Hang));
    let mut command =
        bench.command(&["review", "a.md", "--criterion", "C=c?", "--reviewer", "claude", "--json"]);
    command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let ran = countersign_testkit::Running::start(&mut command).wait();
    no_verdict(&bench, ran, "unavailable", "network and proxy");
}

#[test]
fn hangs() {
    let bench = Bench::new(Messages::always(Act::Hang));
    bench.configure(", timeout_seconds: 3", "");
    no_verdict(&bench, bench.run_configured(&[]), "timeout", "took too long");
}

#[test]
fn missing() {
    let bench = Bench { path: "/usr/bin:/bin".into(), ..Bench::new(Messages::always(Act::Hang)) };
    no_verdict(&bench, bench.review(&[]), "unavailable", "not installed");
}

/// Whatever signal ends it from outside, also the one after which it exits with 0.
#[test]
fn killed_from_outside() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let refuses = Act::error(401, "authentication_error", "no");
        let bench = Bench::new(Messages::scripted(vec![Act::Hang], refuses));
        let running = bench.start(&[]);
        let (pid, environ) = bench.agent(1);
        assert!(!environ.contains(OTHER_KEY), "{environ}");
        assert!(environ.contains("COUNTERSIGN_CALL=ca-"), "{environ}");
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        no_verdict(&bench, running.wait(), "unavailable", "`claude`");
    }
}

/// We are killed in the middle of its work: it goes, and everything below it.
#[test]
fn left_alone_by_kill_9() {
    let glob = Act::Use { tool: "Grep", input: json!({ "pattern": "short" }) };
    let bench = Bench::new(Messages::scripted(vec![glob], Act::Hang));
    bench.configure("", "max_inline_files: 0");
    let mut running = countersign_testkit::Running::start(&mut bench.command(&["review", "--json"]));
    bench.agent(2);
    running.kill();
    running.wait();
    bench.assert_clean();
}
