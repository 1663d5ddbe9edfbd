//! Every way not to answer: each has its name and exit code 4, none is a pass, none costs an attempt, and none
//! leaves a process.

use super::{bench, passing};
use crate::bench::{Bench, OTHER_KEY, no_verdict};
use countersign_testkit::{Act, Gemini, Running};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// What the service does, what comes of it, and how often it is asked.
fn ends(act: Act, reason: &str, words: &str, asked: usize) {
    ends_after(vec![], act, reason, words, asked);
}

fn ends_after(first: Vec<Act>, last: Act, reason: &str, words: &str, asked: usize) {
    let bench = bench(Gemini::scripted(first, last));
    no_verdict(&bench, bench.review(&[]), reason, words);
    assert_eq!(bench.service.asked().len(), asked);
}

#[test]
fn not_signed_in() {
    ends(Act::error(401, "UNAUTHENTICATED", "no such key"), "unavailable", "rejected the key", 1);
}

/// Nor by a key that lies about in the judged project.
#[test]
fn nobody_is_signed_in() {
    let nobody = Bench { key: None, ..passing() };
    nobody.project.write(".env", "GEMINI_API_KEY=found\n").write(".gemini/.env", "GEMINI_API_KEY=found\n");
    nobody.configure(", sees: project", "");
    no_verdict(&nobody, nobody.run_configured(&["a.md"]), "unavailable", "not signed in");
    assert!(nobody.service.asked().is_empty());
}

/// A stored sign-in that is no longer good opens no window, and stays where it is.
#[test]
fn a_stored_sign_in_is_not_good() {
    let bench = Bench { key: None, ..bench(Gemini::always(Act::Hang)) };
    let stored =
        json!({ "access_token": "x", "refresh_token": "y", "token_type": "Bearer", "expiry_date": 1 });
    let file = bench.project.home().join(".gemini/oauth_creds.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, stored.to_string()).unwrap();
    let mut command =
        bench.command(&["review", "a.md", "--criterion", "C=c?", "--reviewer", "gemini", "--json"]);
    // Nothing of this may leave the machine.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9");
    no_verdict(&bench, Running::start(&mut command).wait(), "unavailable", "not signed in");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), stored.to_string());
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn rate_limited_for_long() {
    let act = Act::error(429, "RESOURCE_EXHAUSTED", "You exceeded your quota. Please retry in 3600s.");
    ends(act, "unavailable", "rate limit: submit again later (You exceeded your quota.", 1);
}

#[test]
fn overloaded() {
    ends(Act::error(503, "UNAVAILABLE", "The model is overloaded."), "unavailable", "is overloaded", 3);
}

#[test]
fn server_error() {
    ends(Act::error(500, "INTERNAL", "An internal error has occurred."), "unavailable", "500 An internal", 3);
}

/// Issue 23: the model is named, whether its service names it or not.
#[test]
fn issue_23_a_model_that_is_unknown_is_named() {
    for message in
        ["models/gemini-nope is not found for API version v1beta.", "Requested entity was not found."]
    {
        let bench = bench(Gemini::always(Act::error(404, "NOT_FOUND", message)));
        bench.configure(", model: gemini-nope", "");
        let json = no_verdict(
            &bench,
            bench.run_configured(&[]),
            "unavailable",
            "rejected the question: check `model`",
        );
        assert!(crate::bench::detail(&json).contains("gemini-nope"), "{}", crate::bench::detail(&json));
    }
}

#[test]
fn too_long_for_the_model() {
    let message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    ends(Act::error(400, "INVALID_ARGUMENT", message), "too_long", "too long", 1);
}

#[test]
fn refused() {
    ends(Act::Say { text: "", stop: "refusal" }, "refused", "declined", 1);
}

#[test]
fn out_of_tokens() {
    ends(Act::Say { text: "", stop: "max_tokens" }, "too_long", "reply of `gemini` was too long", 1);
}

#[test]
fn cut_stream() {
    ends(Act::Cut, "unavailable", "ended early", 1);
}

#[test]
fn no_stream_at_all() {
    ends(Act::Page, "unavailable", "ended early", 1);
}

/// Whatever is no answer is asked about once more, and then it is none.
#[test]
fn no_answer() {
    let plain = Act::Say { text: "It all looks fine to me. passed: true", stop: "end_turn" };
    let wrong = Act::answer(json!({ "passed": "yes", "feedback": "", "criteria_results": [] }));
    ends_after(vec![plain], wrong, "garbled", "`passed` is neither true nor false", 2);
}

/// An empty one is asked about once more, by us.
#[test]
fn nothing() {
    ends(Act::Say { text: "", stop: "end_turn" }, "garbled", "empty response", 2);
}

/// Its report does not tell that a reply was cut or filtered; its record does.
#[test]
fn attack_a_pass_that_is_not_whole() {
    let half = Act::Say { text: "{\"passed\": true, \"feed", stop: "max_tokens" };
    ends(half, "too_long", "it stopped for `MAX_TOKENS`", 1);
    for (stop, reason, asked) in [
        ("MAX_TOKENS", "too_long", 1),
        ("SAFETY", "refused", 1),
        ("OTHER", "garbled", 2),
        ("NEW", "garbled", 2),
    ] {
        let words = format!("it stopped for `{stop}`");
        ends(Act::pass_stopped("Complete", stop), reason, &words, asked);
    }
}

#[test]
fn turns() {
    let act = Act::Use { tool: "list_directory", input: json!({ "dir_path": "." }) };
    let bench = bench(Gemini::always(act));
    bench.configure(", sees: project", "");
    no_verdict(&bench, bench.run_configured(&["a.md"]), "too_long", "within its allowed turns");
}

#[test]
fn nobody_listens() {
    let bench = bench(Gemini::always(Act::Hang));
    let mut command =
        bench.command(&["review", "a.md", "--criterion", "C=c?", "--reviewer", "gemini", "--json"]);
    command.env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9");
    no_verdict(&bench, Running::start(&mut command).wait(), "unavailable", "network and proxy");
}

#[test]
fn hangs() {
    let bench = bench(Gemini::always(Act::Hang));
    bench.configure(", timeout_seconds: 4", "");
    no_verdict(&bench, bench.run_configured(&[]), "timeout", "took too long");
}

#[test]
fn missing() {
    let bench = Bench { path: "/usr/bin:/bin".into(), ..bench(Gemini::always(Act::Hang)) };
    no_verdict(&bench, bench.review(&[]), "unavailable", "not installed");
}

/// Whatever signal ends it from outside, also the one after which it exits with 0.
#[test]
fn killed_from_outside() {
    for signal in [Signal::KILL, Signal::TERM] {
        let bench = bench(Gemini::always(Act::Hang));
        let running = bench.start(&[]);
        let (pid, environ) = bench.agent(1);
        assert!(!environ.contains(OTHER_KEY), "{environ}");
        assert!(environ.contains("COUNTERSIGN_CALL=ca-"), "{environ}");
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        no_verdict(&bench, running.wait(), "unavailable", "`gemini` ended unexpectedly");
        assert_eq!(bench.service.asked().len(), 1);
    }
}

/// We are killed in the middle of its work: it goes, and everything below it.
#[test]
fn left_alone_by_kill_9() {
    let bench = bench(Gemini::always(Act::Hang));
    let mut running = bench.start(&[]);
    bench.agent(1);
    running.kill();
    running.wait();
    bench.assert_clean();
}
