//! What the program said, as recorded, and what each end leads to.

use super::*;
use crate::programs::codex::FACTS;
use countersign_core::outcome::NoVerdict;
use serde_json::json;
use std::time::Duration;

fn ended(how: ProcessEnd, stdout: &str, stderr: &str) -> Ended {
    Ended { how, stdout: stdout.into(), stderr_tail: stderr.to_owned(), elapsed: Duration::ZERO }
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// What the program really wrote, by name: exit code, events, and its other words.
fn recorded(name: &str) -> (i32, Vec<Value>, String) {
    let all = include_str!("samples.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sample = all.into_iter().find(|sample| sample["name"] == name).unwrap();
    let events = sample["events"].as_array().unwrap().clone();
    let code = i32::try_from(sample["exit"].as_i64().unwrap()).unwrap();
    (code, events, sample["stderr"].as_str().unwrap().to_owned())
}

fn parsed(name: &str) -> ParsedOutput {
    let (code, events, stderr) = recorded(name);
    parse_output(&ended(ProcessEnd::Exited(code), &lines(&events), &stderr))
}

#[test]
fn every_recorded_end_has_its_name() {
    use NoVerdict as N;
    let table = [
        ("401", Kind::KeyRejected, N::Unavailable, "rejected the key"),
        ("403", Kind::Forbidden, N::Unavailable, "403 Forbidden"),
        ("no key", Kind::NotSignedIn, N::Unavailable, "Missing environment variable"),
        ("429", Kind::RateLimited, N::Unavailable, "429"),
        ("rate limit in the stream", Kind::RateLimited, N::Unavailable, "rate limit"),
        ("usage limit", Kind::AllowanceUsedUp, N::Unavailable, "try again at"),
        ("503", Kind::Overloaded, N::Unavailable, "at capacity"),
        ("500", Kind::ServerError, N::Unavailable, "temporary errors"),
        ("502", Kind::ServerError, N::Unavailable, "502 Bad Gateway"),
        ("400", Kind::Rejected, N::Unavailable, "(Unsupported parameter: x)"),
        ("404", Kind::Rejected, N::Unavailable, "does not exist"),
        ("quota", Kind::NoCredit, N::Unavailable, "billing"),
        ("cut stream", Kind::Connection, N::Unavailable, "stream disconnected"),
        ("no stream", Kind::Connection, N::Unavailable, "stream disconnected"),
        ("connection refused", Kind::Connection, N::Unavailable, "network and proxy"),
        ("unknown feature", Kind::Crashed, N::Unavailable, "Unknown feature flag"),
        ("prompt too long", Kind::QuestionTooLong, N::TooLong, "(Your input exceeds the context window"),
        ("prompt too long in the stream", Kind::QuestionTooLong, N::TooLong, "fewer or smaller files"),
        ("too long for the program", Kind::QuestionTooLong, N::TooLong, "1048576 characters"),
        ("413", Kind::QuestionTooLong, N::TooLong, "Request too large"),
        ("max tokens", Kind::ReplyTooLong, N::TooLong, "max_output_tokens"),
        ("refusal", Kind::Refused, N::Refused, "another reviewer"),
        ("content filter", Kind::Refused, N::Refused, "content_filter"),
        ("flagged", Kind::Refused, N::Refused, "flagged"),
        ("empty", Kind::Garbled, N::Garbled, "the reply is empty"),
    ];
    for (name, kind, why, words) in table {
        let problem = parsed(name).said.unwrap_err();
        assert_eq!((problem.kind, problem.why()), (kind, why), "{name}: {problem:?}");
        assert!(problem.words(&FACTS.called).contains(words), "{name}: {}", problem.words(&FACTS.called));
    }
}

#[test]
fn an_answer_is_its_last_message_and_comes_with_what_it_cost() {
    for name in ["pass", "pass with warnings", "two messages"] {
        let ParsedOutput { said, usage } = parsed(name);
        assert!(said.unwrap().text().contains("\"criterion\": \"Complete\""), "{name}");
        let expected = Usage { tokens_in: Some(1200), tokens_out: Some(57), ..Usage::default() };
        assert_eq!(usage, Some(expected), "{name}");
    }
    assert_eq!(parsed("plain text").said, Ok(ReplyBody::Text("It all looks fine to me".into())));
}

/// If output came before the failure, the cost is unknown; if none came, nothing was spent.
#[test]
fn what_a_failure_cost_is_unknown_once_there_was_a_reply() {
    for (name, usage) in [("cut stream", Some(Usage::default())), ("max tokens", Some(Usage::default()))] {
        assert_eq!(parsed(name).usage, usage, "{name}");
    }
    for name in ["401", "503", "connection refused"] {
        assert_eq!(parsed(name).usage, None, "{name}");
    }
}

/// Every mark of a good answer is needed: without one of them there is none.
#[test]
fn no_mark_alone_makes_an_answer() {
    let (_, good, _) = recorded("pass");
    let [thread, begun, message, completed] = <[Value; 4]>::try_from(good).unwrap();
    let command = json!({ "type": "item.completed", "item": { "type": "command_execution" } });
    let again = json!({ "type": "error", "message": "Reconnecting... 1/1 (x)" });
    let failed = json!({ "type": "turn.failed", "error": { "message": "x" } });
    let ok = |events: &[&Value]| events.iter().map(|event| (*event).clone()).collect::<Vec<_>>();
    let good = ok(&[&thread, &begun, &message, &completed]);
    assert!(parse_output(&ended(ProcessEnd::Exited(0), &lines(&good), "")).said.is_ok());
    let table = [
        (1, good.clone()),
        (143, good),
        (0, ok(&[&thread, &begun, &message])),
        (0, ok(&[&message, &completed])),
        (0, ok(&[&begun, &completed])),
        (0, ok(&[&begun, &message, &completed, &failed])),
        (0, ok(&[&begun, &message, &failed, &completed])),
        (0, ok(&[&begun, &message, &again, &completed])),
        (0, ok(&[&begun, &message, &command, &completed])),
        (0, ok(&[&begun, &message, &completed, &begun, &message, &completed])),
        (0, ok(&[&begun, &message, &completed, &json!("x")])),
        (0, ok(&[&begun, &json!({ "type": "item.started", "item": message["item"] }), &completed])),
    ];
    for (code, events) in table {
        let parsed = parse_output(&ended(ProcessEnd::Exited(code), &lines(&events), ""));
        assert!(parsed.said.is_err(), "{code} {events:?}");
    }
}

#[test]
fn ends_without_a_word_are_named() {
    let (_, good, _) = recorded("pass");
    let good = lines(&good);
    let (_, refused, _) = recorded("429");
    let waiting = lines(&[refused[1].clone(), refused[2].clone()]);
    let not_started = |reason: &str| ProcessEnd::NotStarted { reason: reason.into() };
    let table = [
        (ended(not_started("no such program"), "", ""), Kind::NotInstalled, ""),
        (ended(not_started("it may not be executed"), "", ""), Kind::NotStarted, "executed"),
        (ended(ProcessEnd::TimedOut, &good, ""), Kind::TimedOut, ""),
        (ended(ProcessEnd::TimedOut, &waiting, ""), Kind::TimedOut, "429"),
        (ended(ProcessEnd::TooMuchOutput { limit_bytes: 1 }, &good, ""), Kind::ReplyTooLong, ""),
        (ended(ProcessEnd::Cancelled, &good, ""), Kind::Cancelled, ""),
        (ended(ProcessEnd::GuardLost, &good, ""), Kind::Crashed, ""),
        (ended(ProcessEnd::Signalled(9), &good, ""), Kind::Crashed, "signal 9"),
        (ended(ProcessEnd::Exited(0), "", ""), Kind::Crashed, "turns started: 0"),
        (ended(ProcessEnd::Exited(0), "hello", ""), Kind::Garbled, "not a valid event"),
        (ended(ProcessEnd::Exited(0), "{\"type\": 1}", ""), Kind::Garbled, "not a valid event"),
        (
            ended(ProcessEnd::Exited(2), "", "error: unexpected argument"),
            Kind::Crashed,
            "unexpected argument",
        ),
    ];
    for (ended, kind, words) in table {
        let problem = parse_output(&ended).said.unwrap_err();
        assert_eq!(problem.kind, kind, "{ended:?}");
        assert!(problem.quoted.contains(words), "{problem:?}");
    }
}
