//! What the program said, as recorded, and what each report leads to.

use super::*;
use crate::programs::claude::FACTS;
use countersign_core::outcome::NoVerdict;
use serde_json::json;
use std::time::Duration;

fn ended(how: ProcessEnd, stdout: &str, stderr: &str) -> Ended {
    Ended { how, stdout: stdout.into(), stderr_tail: stderr.to_owned(), elapsed: Duration::ZERO }
}

/// What the program really wrote, by name: exit code and report.
fn recorded(name: &str) -> (i32, Value) {
    let lines =
        include_str!("samples.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sample = lines.into_iter().find(|sample| sample["name"] == name).unwrap();
    (i32::try_from(sample["exit"].as_i64().unwrap()).unwrap(), sample["report"].clone())
}

fn structured(said: ReplyBody) -> Value {
    match said {
        ReplyBody::Structured(value) => value,
        ReplyBody::Text(text) => panic!("text: {text}"),
    }
}

fn parsed(name: &str) -> ParsedOutput {
    let (code, report) = recorded(name);
    parse_output(&ended(ProcessEnd::Exited(code), &report.to_string(), ""))
}

#[test]
fn every_recorded_end_has_its_name() {
    use NoVerdict as N;
    let table = [
        ("401", Kind::KeyRejected, N::Unavailable, "rejected the key"),
        ("403", Kind::Forbidden, N::Unavailable, "403 no access"),
        ("not logged in", Kind::NotSignedIn, N::Unavailable, "Not logged in"),
        ("429", Kind::RateLimited, N::Unavailable, "rate limit"),
        ("529", Kind::Overloaded, N::Unavailable, "overloaded"),
        ("503", Kind::Overloaded, N::Unavailable, "503"),
        ("500", Kind::ServerError, N::Unavailable, "500"),
        ("404", Kind::Rejected, N::Unavailable, "issue with the selected model"),
        ("no credit", Kind::NoCredit, N::Unavailable, "Credit balance is too low"),
        ("no stream", Kind::Connection, N::Unavailable, "malformed"),
        ("cut stream", Kind::Connection, N::Unavailable, "malformed"),
        ("connection refused", Kind::Connection, N::Unavailable, "ECONNREFUSED"),
        ("prompt too long", Kind::QuestionTooLong, N::TooLong, "fewer or smaller files"),
        ("too long for the program", Kind::QuestionTooLong, N::TooLong, "fewer or smaller files"),
        ("413", Kind::QuestionTooLong, N::TooLong, "Request too large"),
        ("refusal", Kind::Refused, N::Refused, "another reviewer"),
        ("max tokens", Kind::ReplyTooLong, N::TooLong, "output token maximum"),
        ("max tokens in the answer", Kind::ReplyTooLong, N::TooLong, "submit fewer files"),
        ("turns", Kind::TurnsUsedUp, N::TooLong, "maximum number of turns"),
        ("wrong shape", Kind::Garbled, N::Garbled, "does not match required schema"),
        ("not json", Kind::Garbled, N::Garbled, "after 5 attempts"),
        ("plain text", Kind::Garbled, N::Garbled, "no structured answer"),
        ("empty", Kind::Garbled, N::Garbled, "no structured answer"),
    ];
    for (name, kind, why, words) in table {
        let problem = parsed(name).said.unwrap_err();
        assert_eq!((problem.kind, problem.why()), (kind, why), "{name}: {problem:?}");
        assert!(problem.words(&FACTS.called).contains(words), "{name}: {}", problem.words(&FACTS.called));
    }
}

#[test]
fn an_answer_comes_with_what_it_cost() {
    let ParsedOutput { said, usage } = parsed("pass");
    assert_eq!(structured(said.unwrap())["criteria_results"][0]["criterion"], "Complete");
    let expected = Usage {
        model: Some("claude-opus-5-5".into()),
        tokens_in: Some(1230),
        tokens_out: Some(57),
        cost_microusd: Some(5994),
    };
    assert_eq!(usage, Some(expected));
    assert_eq!(parsed("wrong shape").usage.unwrap().tokens_in, Some(6150), "a failure costs too");
}

/// Every mark of a good answer is needed: without one of them there is none.
#[test]
fn no_mark_alone_makes_an_answer() {
    let (_, good) = recorded("pass");
    let with = |name: &str, value: Value| {
        let mut report = good.clone();
        report[name] = value;
        report
    };
    let table = [
        (1, good.clone()),
        (143, good.clone()),
        (0, with("is_error", json!(true))),
        (0, with("is_error", json!(null))),
        (0, with("subtype", json!("error_during_execution"))),
        (0, with("terminal_reason", json!("aborted_streaming"))),
        (0, with("structured_output", json!(null))),
        (0, with("stop_reason", json!("max_tokens"))),
        (0, with("stop_reason", json!("pause_turn"))),
        (0, with("stop_reason", json!("new_reason"))),
        (0, with("stop_reason", json!(null))),
        (0, json!([good.clone()])),
    ];
    for (code, report) in table {
        let parsed = parse_output(&ended(ProcessEnd::Exited(code), &report.to_string(), ""));
        assert!(parsed.said.is_err(), "{code} {report}");
    }
}

/// Only what came back with text counts: a listing, a refusal and a call without a result open nothing.
#[test]
fn its_events_say_how_many_files_it_opened() {
    let (_, report) = recorded("pass");
    let used = |id: &str, name: &str, input: Value| {
        json!({ "type": "assistant", "message": { "content": [
            { "type": "tool_use", "id": id, "name": name, "input": input },
        ] } })
    };
    let came = |id: &str, is_error: bool| {
        json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "tool_use_id": id, "content": "x", "is_error": is_error },
        ] } })
    };
    let content = json!({ "output_mode": "content" });
    let init = json!({ "type": "system" });
    let table = [
        (vec![], None),
        (vec![init.clone()], Some(0)),
        (vec![used("a", "Read", json!({})), came("a", false)], Some(1)),
        (vec![used("a", "Grep", content.clone()), came("a", false)], Some(1)),
        (vec![used("a", "Grep", json!({})), came("a", false)], Some(0)),
        (vec![used("a", "Glob", json!({})), came("a", false)], Some(0)),
        (vec![used("a", "Read", json!({})), came("a", true)], Some(0)),
        (vec![used("a", "Read", json!({})), came("b", false)], Some(0)),
    ];
    for (events, expected) in table {
        let lines: String = events.iter().chain([&report]).map(|event| format!("{event}\n")).collect();
        let ended = ended(ProcessEnd::Exited(0), &lines, "");
        assert_eq!(opened(&ended), expected, "{lines}");
        assert!(parse_output(&ended).said.is_ok(), "{lines}");
    }
}

#[test]
fn ends_without_a_report_are_named() {
    let (_, good) = recorded("pass");
    let good = good.to_string();
    let not_started = |reason: &str| ProcessEnd::NotStarted { reason: reason.into() };
    let table = [
        (ended(not_started("no such program"), "", ""), Kind::NotInstalled),
        (ended(not_started("it may not be executed"), "", ""), Kind::NotStarted),
        (ended(ProcessEnd::TimedOut, &good, ""), Kind::TimedOut),
        (ended(ProcessEnd::TooMuchOutput { limit_bytes: 1 }, &good, ""), Kind::ReplyTooLong),
        (ended(ProcessEnd::Cancelled, &good, ""), Kind::Cancelled),
        (ended(ProcessEnd::GuardLost, &good, ""), Kind::Crashed),
        (ended(ProcessEnd::Signalled(9), &good, ""), Kind::Crashed),
        (ended(ProcessEnd::Exited(1), "", "Error: piped stdin input exceeds 10MB."), Kind::QuestionTooLong),
        (ended(ProcessEnd::Exited(1), "", "segfault"), Kind::Crashed),
        (ended(ProcessEnd::Exited(0), "", ""), Kind::Garbled),
        (ended(ProcessEnd::Exited(0), "{\"is_error\": fal", ""), Kind::Garbled),
        (ended(ProcessEnd::Exited(0), &format!("{good}{good}"), ""), Kind::Garbled),
    ];
    for (ended, kind) in table {
        let said = parse_output(&ended).said;
        assert_eq!(said.as_ref().unwrap_err().kind, kind, "{ended:?}");
    }
}

#[test]
fn foreign_words_are_quoted_on_one_short_line() {
    let (code, mut report) = recorded("500");
    report["result"] = json!(format!("a\u{1b}[2J\nb{}", "x".repeat(5000)));
    let words = parse_output(&ended(ProcessEnd::Exited(code), &report.to_string(), ""))
        .said
        .unwrap_err()
        .words(&FACTS.called);
    assert!(words.len() < 600 && !words.contains('\n') && !words.contains('\u{1b}'), "{words}");
}
