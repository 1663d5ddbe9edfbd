//! Every way not to answer: each has its name and exit code 4, none is a pass, none costs an attempt, and none
//! leaves a process.

use super::{OPENCODE, bench};
use crate::bench::{Bench, Driven, OTHER_KEY, no_verdict};
use countersign_testkit::{Act, Chat, Running, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Enough for the program to start and to ask, on a busy machine too; it would try again for a minute.
const SHORT: &str = ", timeout_seconds: 30";
const REVIEW: [&str; 4] = ["review", "--subject", "x", "--json"];

/// What the service does and what comes of it, in one question.
fn ends(act: Act, reason: &str, words: &str) {
    let bench = bench(Chat::always(act));
    no_verdict(&bench, bench.run_configured(&[]), reason, words);
    assert_eq!(bench.service.asked().len(), 1);
}

/// What the service does in two questions: a reply that cannot be used is asked about once more.
fn ends_after_two(acts: [Act; 2], words: &str) {
    let [first, second] = acts;
    let bench = bench(Chat::scripted(vec![first], second));
    no_verdict(&bench, bench.run_configured(&[]), "garbled", words);
    assert_eq!(bench.service.asked().len(), 2);
}

#[test]
fn not_signed_in() {
    ends(Act::error(401, "invalid_api_key", "Incorrect API key provided"), "unavailable", "rejected the key");
}

#[test]
fn too_long_for_the_model() {
    let message =
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    ends(Act::error(400, "context_length_exceeded", message), "too_long", "too long");
}

#[test]
fn refused() {
    ends(Act::Say { text: "I would", stop: "content_filter" }, "refused", "declined");
}

#[test]
fn out_of_tokens() {
    ends(
        Act::Say { text: "{\"passed\": true", stop: "length" },
        "too_long",
        "reply of `opencode` was too long",
    );
}

#[test]
fn plain_text_and_a_pass_without_rulings() {
    let text = Act::Say { text: "It all looks fine to me. passed: true", stop: "stop" };
    ends_after_two([text, Act::answer(json!({ "passed": true, "feedback": "all good" }))], "Complete");
}

#[test]
fn not_json_and_empty() {
    ends_after_two([Act::Raw("{\"passed\": tr".to_owned()), Act::Say { text: "", stop: "stop" }], "no text");
}

/// What the service does is tried again in silence until our clock ends it. The clock must leave room for a slow
/// start, so all of these wait at the same time.
#[test]
fn tried_again_in_silence() {
    let limited = Act::Error {
        status: 429,
        kind: "rate_limit_exceeded",
        message: "Rate limit reached, come back at noon",
        retry_after: Some(3600),
    };
    let busy = Act::error(503, "server_error", "The engine is overloaded");
    let table = [
        (limited, "rate limit: submit again later ("),
        (busy, "in a few minutes ("),
        (Act::Cut, "ended early"),
    ];
    let mut all = vec![];
    for (act, words) in table {
        let bench = bench(Chat::always(act));
        bench.configure(SHORT, "");
        let running = Running::start(&mut bench.command(&REVIEW));
        // One start after the other: together they would slow each other down.
        eventually("the program asks", || !bench.service.asked().is_empty());
        all.push((bench, running, words));
    }
    let away = Driven { keys: |_| ", base_url: 'http://127.0.0.1:9/v1', model: m".to_owned(), ..OPENCODE };
    let nobody = Bench::of(away, Chat::always(Act::Hang));
    nobody.configure(SHORT, "");
    let running = Running::start(&mut nobody.command(&REVIEW));
    all.push((nobody, running, "network and proxy"));
    for (bench, running, words) in all {
        no_verdict(&bench, running.wait(), "unavailable", words);
    }
}

/// Issue 23: what is no reply is asked for a few times, and not hundreds of times; what that cost is unknown.
#[test]
fn issue_23_a_reply_that_is_none_is_not_asked_for_without_end() {
    let bench = bench(Chat::always(Act::Page));
    let json = no_verdict(&bench, bench.run_configured(&[]), "unavailable", "did not send a valid reply");
    let asked = bench.service.asked().len();
    // It is ended while it asks once more.
    assert!((3..=6).contains(&asked), "asked {asked} times");
    assert!(json["cost"]["tokens_in"].is_null(), "{}", json["cost"]);
}

#[test]
fn hangs() {
    let bench = bench(Chat::always(Act::Hang));
    bench.configure(", timeout_seconds: 5", "");
    no_verdict(&bench, bench.run_configured(&[]), "timeout", "took too long");
}

/// Nobody is signed in and no model is named: the work does not go to the free models of its makers.
#[test]
fn no_model() {
    let bench = Bench { key: None, ..Bench::of(OPENCODE, Chat::always(Act::Hang)) };
    no_verdict(&bench, bench.review(&[]), "unavailable", "opencode auth login");
}

#[test]
fn killed_from_outside() {
    let bench = bench(Chat::always(Act::Hang));
    let running = Running::start(&mut bench.command(&["review", "--subject", "x", "--json"]));
    let (pid, environ) = bench.agent(1);
    assert!(!environ.contains(OTHER_KEY) && environ.contains("COUNTERSIGN_CALL=ca-"), "{environ}");
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    no_verdict(&bench, running.wait(), "unavailable", "`opencode`");
}

/// We are killed in the middle of its work: it goes, and everything below it.
#[test]
fn left_alone_by_kill_9() {
    let bench = bench(Chat::always(Act::Hang));
    let mut running = Running::start(&mut bench.command(&["review", "--json"]));
    bench.agent(1);
    running.kill();
    running.wait();
    bench.assert_clean();
}
