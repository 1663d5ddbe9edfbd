//! What the program said, as recorded, and what each end leads to.

use super::*;
use crate::programs::opencode::FACTS;
use countersign_core::outcome::NoVerdict;
use serde_json::json;
use std::time::Duration;

fn ended(how: ProcessEnd, events: &[Value], log: &str) -> Ended {
    let stdout: String = events.iter().map(|event| format!("{event}\n")).collect();
    Ended { how, stdout: stdout.into(), stderr_tail: log.to_owned(), elapsed: Duration::ZERO }
}

/// What the program really wrote, by name; without an exit code our clock ended it.
fn recorded(name: &str) -> (ProcessEnd, Vec<Value>, String) {
    let mut lines =
        include_str!("samples.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sample = lines.find(|sample| sample["name"] == name).unwrap();
    let exit = sample["exit"].as_i64();
    let how = exit.map_or(ProcessEnd::TimedOut, |code| ProcessEnd::Exited(i32::try_from(code).unwrap()));
    (how, sample["events"].as_array().unwrap().clone(), sample["log"].as_str().unwrap().to_owned())
}

fn parsed(name: &str) -> ParsedOutput {
    let (how, events, log) = recorded(name);
    parse_output(&ended(how, &events, &log))
}

#[test]
fn every_recorded_end_has_its_name() {
    use NoVerdict as N;
    let table = [
        ("401", Kind::KeyRejected, N::Unavailable, "rejected the key"),
        ("403", Kind::Forbidden, N::Unavailable, "no access"),
        ("nobody signed in", Kind::NotSignedIn, N::Unavailable, "No providers are available"),
        ("unknown model", Kind::Rejected, N::Unavailable, "Model not found: countersign/other"),
        ("404", Kind::Rejected, N::Unavailable, "The model does not exist"),
        ("429", Kind::RateLimited, N::Unavailable, "(Rate limit reached)"),
        ("429 in silence", Kind::RateLimited, N::Unavailable, "(Rate limit reached)"),
        ("quota", Kind::NoCredit, N::Unavailable, "current quota"),
        ("503", Kind::Overloaded, N::Unavailable, "(Overloaded now)"),
        ("503 in silence", Kind::Overloaded, N::Unavailable, "(Overloaded now)"),
        ("connection refused in silence", Kind::Connection, N::Unavailable, "Unable to connect"),
        ("no stream", Kind::Connection, N::Unavailable, "did not send a valid reply"),
        ("prompt too long", Kind::QuestionTooLong, N::TooLong, "maximum context length"),
        ("max tokens", Kind::ReplyTooLong, N::TooLong, "submit fewer files"),
        ("content filter", Kind::Refused, N::Refused, "another reviewer"),
        ("empty", Kind::Garbled, N::Garbled, "no text"),
        ("refusal", Kind::Garbled, N::Garbled, "or declined"),
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
    assert_eq!(said, Ok(ReplyBody::Text("{\"passed\":true}".to_owned())));
    let once = Usage { model: None, tokens_in: Some(1200), tokens_out: Some(57), cost_microusd: None };
    assert_eq!(usage, Some(once), "a price of 0 is not known");
    let (how, mut events, log) = recorded("two steps");
    for event in events.iter_mut().filter(|event| event["type"] == "step_finish") {
        event["part"]["cost"] = json!(0.0021);
        event["part"]["tokens"]["reasoning"] = json!(3);
    }
    let ParsedOutput { said, usage } = parse_output(&ended(how, &events, &log));
    assert_eq!(said, Ok(ReplyBody::Text("{\"passed\":true}".to_owned())));
    let twice =
        Usage { model: None, tokens_in: Some(2400), tokens_out: Some(120), cost_microusd: Some(4200) };
    assert_eq!(usage, Some(twice));
    assert_eq!(parsed("max tokens").usage.unwrap().tokens_out, Some(57), "a failure costs too");
    assert_eq!(parsed("401").usage, None);
}

/// Every mark of an answer taken away or turned around makes it none.
#[test]
fn an_answer_with_a_mark_missing_is_none() {
    let (_, events, _) = recorded("pass");
    let parsed = |how: ProcessEnd, events: &[Value]| {
        parse_output(&ended(how, events, "")).said.map_err(|problem| problem.kind)
    };
    assert!(parsed(ProcessEnd::Exited(0), &events).is_ok());
    assert_eq!(parsed(ProcessEnd::Exited(1), &events), Err(Kind::Crashed));
    assert_eq!(parsed(ProcessEnd::TimedOut, &events), Err(Kind::TimedOut));
    assert_eq!(parsed(ProcessEnd::Signalled(15), &events), Err(Kind::Crashed));
    let endless = ProcessEnd::TooMuchOutput { limit_bytes: 1 };
    assert_eq!(parsed(endless, &events), Err(Kind::ReplyTooLong));
    assert_eq!(parsed(ProcessEnd::Exited(0), &[]), Err(Kind::Garbled));
    assert_eq!(parsed(ProcessEnd::Exited(0), &events[..2]), Err(Kind::Garbled), "it does not end");
    for reason in ["tool-calls", "unknown", "error", ""] {
        let mut events = events.clone();
        events[2]["part"]["reason"] = json!(reason);
        assert_eq!(parsed(ProcessEnd::Exited(0), &events), Err(Kind::NotWhole), "{reason}");
    }
    let mut earlier = events.clone();
    earlier[1]["part"]["messageID"] = json!("msg_0");
    assert_eq!(parsed(ProcessEnd::Exited(0), &earlier), Err(Kind::Garbled), "said before the last step");
    let mut failed = events.clone();
    failed.insert(0, json!({ "type": "error", "error": { "name": "UnknownError", "data": {} } }));
    assert_eq!(parsed(ProcessEnd::Exited(0), &failed), Err(Kind::Crashed), "an error anywhere");
}

#[test]
fn a_status_tells_the_kind() {
    let table = [
        (401, Kind::KeyRejected),
        (413, Kind::QuestionTooLong),
        (429, Kind::RateLimited),
        (500, Kind::ServerError),
        (502, Kind::ServerError),
        (529, Kind::Overloaded),
        (400, Kind::Rejected),
    ];
    for (status, kind) in table {
        let data = json!({ "message": "m", "statusCode": status });
        let event = json!({ "type": "error", "error": { "name": "APIError", "data": data } });
        let problem = parse_output(&ended(ProcessEnd::Exited(1), &[event], "")).said.unwrap_err();
        assert_eq!(problem, Problem::new(kind, "m"), "{status}");
    }
}

/// Where the log has words without a known mark, it took too long, and they are told.
#[test]
fn the_words_of_the_log_are_told() {
    let log = "timestamp=x level=ERROR run=1 message=\"stream error\" error.error=\"AI_APICallError: say \\\"x\\\"\" \
               stack=\"y\"\ntimestamp=x level=ERROR message=other\n";
    let problem = parse_output(&ended(ProcessEnd::TimedOut, &[], log)).said.unwrap_err();
    assert_eq!(problem, Problem::new(Kind::TimedOut, "say \"x\""));
    let problem = parse_output(&ended(ProcessEnd::Cancelled, &[], log)).said.unwrap_err();
    assert_eq!(problem, Problem::new(Kind::ServerError, "say \"x\""));
    assert_eq!(
        parse_output(&ended(ProcessEnd::TimedOut, &[], "")).said.unwrap_err(),
        Problem::new(Kind::TimedOut, "")
    );
}
