//! Every way not to answer: each has its name and exit code 4, none is a pass, none costs an attempt, and none
//! leaves a process.

use super::{CODEX, always, configured};
use crate::bench::{Bench, Driven, OTHER_KEY, no_verdict};
use countersign_testkit::{Act, Responses, Running};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const NO_MODEL: &str = "The model `x` does not exist or you do not have access to it.";

/// What the service does, what comes of it, and how often it was asked at most.
fn ends(act: Act, reason: &str, words: &str, asked_at_most: usize) {
    let bench = always(act);
    no_verdict(&bench, bench.run_configured(&[]), reason, words);
    let asked = bench.service.asked().len();
    assert!((1..=asked_at_most).contains(&asked), "asked {asked} times");
}

#[test]
fn not_signed_in() {
    ends(Act::error(401, "invalid_api_key", "Incorrect API key"), "unavailable", "rejected the key", 1);
    let nobody = Bench { key: None, ..always(Act::Hang) };
    no_verdict(&nobody, nobody.run_configured(&[]), "unavailable", "not signed in");
}

#[test]
fn the_account_or_the_service_cannot() {
    let table = [
        (Act::error(429, "rate_limit_exceeded", "slow down"), "rate limit: submit again later (", 3),
        (Act::error(429, "usage_limit_reached", "used up"), "rate limit: submit again later (You", 1),
        (
            Act::error(429, "insufficient_quota", "pay"),
            "no credit left: add credit, or ask another reviewer (Quota exceeded",
            1,
        ),
        (Act::error(503, "server_is_overloaded", "busy"), "is overloaded", 3),
        (Act::error(503, "service_unavailable", "busy"), "is overloaded", 3),
        (Act::error(500, "server_error", "broken"), "failed: submit again in a few minutes", 3),
        (Act::error(404, "model_not_found", NO_MODEL), "rejected the question: check `model` (The model", 1),
    ];
    for (act, words, asked_at_most) in table {
        ends(act, "unavailable", words, asked_at_most);
    }
}

#[test]
fn too_long_for_the_model() {
    let message = "Your input exceeds the context window of this model.";
    ends(Act::error(400, "context_length_exceeded", message), "too_long", "question is too long", 1);
}

#[test]
fn the_model_does_not_finish() {
    ends(Act::Say { text: "I would rather not", stop: "refusal" }, "refused", "declined", 1);
    let cut = "{\"passed\": true, \"feedb";
    ends(Act::Say { text: cut, stop: "max_tokens" }, "too_long", "reply of `codex` was too long", 1);
}

#[test]
fn the_reply_breaks_off() {
    ends(Act::Cut, "unavailable", "ended early", 2);
    ends(Act::Page, "unavailable", "ended early", 2);
}

#[test]
fn the_reply_is_no_answer() {
    let pass = "It all looks fine to me. passed: true";
    let table = [
        Act::Say { text: pass, stop: "end_turn" },
        Act::Say { text: "", stop: "end_turn" },
        Act::Raw("{\"passed\": tr".to_owned()),
        Act::answer(json!([{ "passed": true }])),
        Act::answer(json!({ "passed": true, "feedback": "all good" })),
    ];
    for act in table {
        ends(act, "garbled", "", 2);
    }
    // A reply that does not say "passed" did not pass.
    let json = always(Act::answer(json!({ "verdict": "passed" }))).run_configured(&[]).exits(1).json();
    assert_eq!(json["findings"][0]["feedback"], "No feedback provided");
}

#[test]
fn nobody_listens() {
    let driven =
        Driven { keys: |_| ", base_url: 'http://127.0.0.1:9/v1', key_env: SERVICE_KEY".into(), ..CODEX };
    let bench = Bench::of(driven, Responses::always(Act::Hang));
    bench.configure("", "");
    no_verdict(&bench, bench.run_configured(&[]), "unavailable", "network and proxy");
}

#[test]
fn hangs() {
    let bench = always(Act::Hang);
    bench.configure(", timeout_seconds: 2", "");
    no_verdict(&bench, bench.run_configured(&[]), "timeout", "took too long");
}

/// Issue 23: it does not wait for as long as its service says. It does not pass that on, so we wait as we do by ourselves.
#[test]
fn issue_23_a_service_that_asks_for_an_hour_is_given_up() {
    let act = Act::Error { status: 429, kind: "rate_limit_exceeded", message: "x", retry_after: Some(3600) };
    ends(act, "unavailable", "429 Too Many Requests", 3);
}

/// Issue 23: what passes is waited for.
#[test]
fn issue_23_twice_too_many_and_then_an_answer() {
    let busy = Act::error(429, "rate_limit_exceeded", "slow down");
    let bench = configured(Responses::scripted(vec![busy; 2], Act::ruling("Complete", true, "fine")));
    bench.run_configured(&[]).exits(0);
    assert_eq!(bench.service.asked().len(), 3);
    bench.assert_clean();
}

#[test]
fn missing() {
    let bench = Bench { path: "/usr/bin:/bin".into(), ..always(Act::Hang) };
    no_verdict(&bench, bench.run_configured(&[]), "unavailable", "not installed");
}

#[test]
fn killed_from_outside() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let refuses = Act::error(401, "invalid_api_key", "no");
        let bench = configured(Responses::scripted(vec![Act::Hang], refuses));
        let running = Running::start(&mut bench.command(&["review", "--subject", "x", "--json"]));
        let (pid, environ) = bench.agent(1);
        assert!(!environ.contains(OTHER_KEY), "{environ}");
        assert!(environ.contains("COUNTERSIGN_CALL=ca-") && environ.contains("SERVICE_KEY="), "{environ}");
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        no_verdict(&bench, running.wait(), "unavailable", "`codex`");
    }
}

/// We are killed while a command of the program runs: both go.
#[test]
fn left_alone_by_kill_9() {
    let sleeps = Act::Use { tool: "exec", input: json!("await tools.exec_command({cmd: 'sleep 600'})") };
    let bench = configured(Responses::always(sleeps));
    bench.configure(", sees: project", "");
    let mut running = Running::start(&mut bench.command(&["review", "--json"]));
    bench.agent(1);
    let sleeping = |(pid, _): &(i32, String)| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"sleep\0"))
    };
    countersign_testkit::eventually("the command runs", || bench.processes().iter().any(sleeping));
    running.kill();
    running.wait();
    bench.assert_clean();
}
