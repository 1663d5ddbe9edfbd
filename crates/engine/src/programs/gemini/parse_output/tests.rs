//! What the program said, as recorded but for stacks and places, and what each end leads to.

use super::*;
use crate::programs::gemini::FACTS;
use countersign_core::outcome::NoVerdict;
use std::time::Duration;

fn ended(how: ProcessEnd, stdout: &str, stderr: &str) -> Ended {
    Ended { how, stdout: stdout.into(), stderr_tail: stderr.to_owned(), elapsed: Duration::ZERO }
}

/// How the program really ended, by name.
fn recorded(name: &str) -> Ended {
    let lines =
        include_str!("samples.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sample = lines.into_iter().find(|sample| sample["name"] == name).unwrap();
    let code = i32::try_from(sample["exit"].as_i64().unwrap()).unwrap();
    let report = Some(&sample["report"]).filter(|report| report.is_object()).map(Value::to_string);
    ended(ProcessEnd::Exited(code), &report.unwrap_or_default(), sample["stderr"].as_str().unwrap())
}

#[test]
fn every_recorded_end_has_its_name() {
    use NoVerdict as N;
    let table = [
        ("401", Kind::KeyRejected, N::Unavailable, "(401 API key not valid"),
        ("bad key", Kind::KeyRejected, N::Unavailable, "sign in again (400 API key not valid"),
        ("403", Kind::Forbidden, N::Unavailable, "403 no access"),
        ("not signed in", Kind::NotSignedIn, N::Unavailable, "you must specify the GEMINI_API_KEY"),
        ("404", Kind::Rejected, N::Unavailable, "models/x is not found"),
        ("429", Kind::RateLimited, N::Unavailable, "(slow down)"),
        ("429 for long", Kind::RateLimited, N::Unavailable, "Suggested retry after 3600s"),
        ("429 for today", Kind::AllowanceUsedUp, N::Unavailable, "daily quota"),
        ("503", Kind::Overloaded, N::Unavailable, "The model is overloaded"),
        ("500", Kind::ServerError, N::Unavailable, "500 An internal error"),
        ("no stream", Kind::Connection, N::Unavailable, "Incomplete JSON"),
        ("cut stream", Kind::Connection, N::Unavailable, "terminated"),
        ("no finish", Kind::Connection, N::Unavailable, "without a finish reason"),
        ("prompt blocked", Kind::Connection, N::Unavailable, "without a finish reason"),
        ("connection refused", Kind::Connection, N::Unavailable, "fetch failed"),
        ("too long", Kind::QuestionTooLong, N::TooLong, "exceeds the maximum number of tokens"),
        ("too long for the program", Kind::QuestionTooLong, N::TooLong, "it counted the tokens itself"),
        ("safety", Kind::Refused, N::Refused, "another reviewer"),
        ("max tokens and nothing", Kind::ReplyTooLong, N::TooLong, "submit fewer files"),
        ("turns", Kind::TurnsUsedUp, N::TooLong, "Reached max session turns"),
        ("malformed call", Kind::Garbled, N::Garbled, "malformed function call"),
        ("empty", Kind::Garbled, N::Garbled, "empty response"),
    ];
    for (name, kind, why, words) in table {
        let problem = parse_output(&recorded(name)).said.unwrap_err();
        assert_eq!((problem.kind, problem.why()), (kind, why), "{name}: {problem:?}");
        assert!(problem.words(&FACTS.called).contains(words), "{name}: {}", problem.words(&FACTS.called));
    }
}

/// Whether a text is an answer is not for the program to say; that it was cut, it does not tell.
#[test]
fn what_was_said_is_handed_on() {
    for name in ["pass", "fenced", "max tokens", "plain text", "not json"] {
        let said = parse_output(&recorded(name)).said.unwrap();
        let report: Value = serde_json::from_slice(&recorded(name).stdout).unwrap();
        assert_eq!(ReplyBody::Text(report["response"].as_str().unwrap().to_owned()), said, "{name}");
    }
}

#[test]
fn an_answer_comes_with_its_tokens() {
    let usage = |name: &str| parse_output(&recorded(name)).usage;
    let expected = Usage {
        model: Some("gemini-test".into()),
        tokens_in: Some(1230),
        tokens_out: Some(57),
        cost_microusd: None,
    };
    assert_eq!(usage("pass"), Some(expected.clone()));
    let twice = Usage { tokens_in: Some(2460), tokens_out: Some(114), ..expected };
    assert_eq!(usage("empty"), Some(twice), "a failure costs too");
    assert_eq!(usage("401"), None);
    assert_eq!(usage("too long for the program"), None);
}

/// Every mark of a good answer is needed: without one of them there is none.
#[test]
fn no_mark_alone_makes_an_answer() {
    let good: Value = serde_json::from_slice(&recorded("pass").stdout).unwrap();
    let with = |name: &str, value: Value| {
        let mut report = good.clone();
        report[name] = value;
        report.to_string()
    };
    let good = good.to_string();
    let truncated = "Warning: stdin input truncated to 8388608 bytes.";
    let exits = |code: i32, stdout: &str, stderr: &str| ended(ProcessEnd::Exited(code), stdout, stderr);
    let not_started = |reason: &str| ProcessEnd::NotStarted { reason: reason.into() };
    let warned = with("warnings", json!(["Loop detected, stopping execution"]));
    let table = [
        (exits(0, &good, truncated), Kind::QuestionTooLong),
        (exits(0, &with("error", json!({ "message": "x" })), ""), Kind::Garbled),
        (exits(0, &with("error", json!("x")), ""), Kind::Garbled),
        (exits(0, &warned, ""), Kind::Crashed),
        (exits(0, &with("warnings", json!(["Maximum session turns exceeded"])), ""), Kind::TurnsUsedUp),
        (exits(0, &with("response", json!(" \n")), ""), Kind::Garbled),
        (exits(0, &with("response", json!(null)), ""), Kind::Garbled),
        (exits(0, &with("response", json!({ "passed": true })), ""), Kind::Garbled),
        (exits(0, &format!("[{good}]"), ""), Kind::Garbled),
        (exits(0, &format!("{good}{good}"), ""), Kind::Garbled),
        (exits(0, &good[..good.len() - 1], ""), Kind::Garbled),
        (exits(0, "", ""), Kind::Crashed),
        (exits(1, &good, ""), Kind::Crashed),
        (exits(1, "", "segfault"), Kind::Crashed),
        (exits(41, "", "Manual authorization is required"), Kind::NotSignedIn),
        (exits(55, "", "not running in a trusted directory"), Kind::Crashed),
        (exits(173, &good, "no report at all {"), Kind::RateLimited),
        (ended(not_started("no such program"), "", ""), Kind::NotInstalled),
        (ended(not_started("it may not be executed"), "", ""), Kind::NotStarted),
        (ended(ProcessEnd::TimedOut, &good, ""), Kind::TimedOut),
        (ended(ProcessEnd::TooMuchOutput { limit_bytes: 1 }, &good, ""), Kind::ReplyTooLong),
        (ended(ProcessEnd::Cancelled, &good, ""), Kind::Cancelled),
        (ended(ProcessEnd::GuardLost, &good, ""), Kind::Crashed),
        (ended(ProcessEnd::Signalled(9), &good, ""), Kind::Crashed),
    ];
    for (ended, kind) in table {
        let said = parse_output(&ended).said;
        assert_eq!(said.as_ref().unwrap_err().kind, kind, "{ended:?}");
    }
}

#[test]
fn foreign_words_are_quoted_on_one_short_line() {
    let message = format!("a\u{1b}[2J\nb{}", "x".repeat(5000));
    let stderr = json!({ "error": { "message": message } }).to_string();
    let words =
        parse_output(&ended(ProcessEnd::Exited(244), "", &stderr)).said.unwrap_err().words(&FACTS.called);
    assert!(words.len() < 600 && !words.contains('\n') && !words.contains('\u{1b}'), "{words}");
}
