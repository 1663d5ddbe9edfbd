//! Parses the output of the program: one JSON object a line for steps, texts and errors.
//!
//! It ends with 0 also where a reply was cut short, and tries again in silence for a minute where its service fails: then
//! its log, on standard error, says why.

use crate::http::retry::WAIT_MAX as WAIT;
use crate::process::{Ended, ProcessEnd};
use crate::programs::{
    Kind, ParsedOutput, Patience, Problem, ReplyBody, Usage, kind_in, microusd, not_exited, says_no_credit,
    stop, sum_known,
};
use serde_json::Value;
use std::time::Duration;

pub fn parse_output(ended: &Ended) -> ParsedOutput {
    let events: Vec<Value> = crate::programs::events(&ended.stdout).flatten().collect();
    let said = match &ended.how {
        ProcessEnd::Exited(code) => read(*code, &events, &ended.stderr_tail),
        ProcessEnd::TimedOut | ProcessEnd::TooMuchOutput { .. } | ProcessEnd::Cancelled => {
            Err(cut_off(&ended.how, &events, &ended.stderr_tail))
        }
        other => Err(not_exited(other, "")),
    };
    ParsedOutput { said, usage: usage(&events) }
}

fn read(code: i32, events: &[Value], log: &str) -> Result<ReplyBody, Problem> {
    if let Some(event) = of(events, "error").next_back() {
        return Err(failure(&event["error"], log));
    }
    if code != 0 {
        let words = logged(log).unwrap_or_else(|| log.to_owned());
        let kind = kind_in_words(&words).unwrap_or(Kind::Crashed);
        return Err(Problem::new(kind, &format!("exit code {code} {words}")));
    }
    let Some(end) = of(events, "step_finish").next_back() else {
        return Err(Problem::new(Kind::Garbled, "`opencode` ended without a result"));
    };
    stop::chat(end["part"]["reason"].as_str())?;
    // What it said before its last step is no answer.
    let of_the_end = |text: &&Value| text["part"]["messageID"] == end["part"]["messageID"];
    let text = of(events, "text").rfind(of_the_end).and_then(|event| event["part"]["text"].as_str());
    let none = || Problem::new(Kind::Garbled, "there is no text: the model said nothing, or declined");
    text.map(|text| ReplyBody::Text(text.to_owned())).ok_or_else(none)
}

fn of<'a>(events: &'a [Value], kind: &'static str) -> impl DoubleEndedIterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

fn failure(error: &Value, log: &str) -> Problem {
    let data = &error["data"];
    let said = data["message"].as_str().unwrap_or_default();
    // Where it is the program's own, only its log has the words.
    let words = match data["ref"].as_str() {
        Some(_) => logged(log).unwrap_or_else(|| said.to_owned()),
        None => said.to_owned(),
    };
    let kind = match error["name"].as_str().unwrap_or_default() {
        "ContextOverflowError" => Kind::QuestionTooLong,
        "MessageOutputLengthError" => Kind::ReplyTooLong,
        "ContentFilterError" => Kind::Refused,
        "ProviderAuthError" => Kind::NotSignedIn,
        _ if says_no_credit(&words) => Kind::NoCredit,
        _ => data["statusCode"]
            .as_u64()
            .map(Kind::of_status)
            .or_else(|| kind_in_words(&words))
            .unwrap_or(Kind::Crashed),
    };
    Problem::new(kind, &words)
}

/// How often it may ask for one answer. It has no tools, so what is no answer leads to nothing new.
const REQUESTS_MAX: usize = 3;
/// How long it may wait by itself before it asks again: what we would wait, and some time to send.
const WAIT_MAX: Duration = WAIT.saturating_add(Duration::from_secs(5));

/// How long to wait for it: it asks again without end where its service fails or sends what is no reply.
pub fn patience(useless: &mut usize, line: &str) -> Option<Patience> {
    let failed = line.contains(" level=ERROR ") && line.contains(" message=\"stream error\" ");
    if failed || is_useless_step(line) {
        *useless += 1;
        let last = *useless >= REQUESTS_MAX;
        return Some(Patience::AtMost(if last { Duration::ZERO } else { WAIT_MAX }));
    }
    line.contains(" message=stream ").then_some(Patience::Whole)
}

/// Whether a step ended after which it asks once more.
fn is_useless_step(line: &str) -> bool {
    let Ok(event) = serde_json::from_str::<Value>(line) else { return false };
    let reason = event["part"]["reason"].as_str();
    event["type"] == "step_finish" && !matches!(reason, Some("stop" | "length" | "content-filter"))
}

fn kind_in_words(words: &str) -> Option<Kind> {
    if says_no_credit(words) {
        return Some(Kind::NoCredit);
    }
    const KINDS_BY_WORDS: &[(&str, Kind)] = &[
        ("providernoproviderserror", Kind::NotSignedIn),
        ("no providers are available", Kind::NotSignedIn),
        ("api key is missing", Kind::NotSignedIn),
        ("providermodelnotfounderror", Kind::Rejected),
        ("rate limit", Kind::RateLimited),
        ("too many requests", Kind::RateLimited),
        ("quota", Kind::AllowanceUsedUp),
        ("overloaded", Kind::Overloaded),
        ("service unavailable", Kind::Overloaded),
        ("internal server error", Kind::ServerError),
        ("cannot connect", Kind::Connection),
        ("unable to connect", Kind::Connection),
        ("connection", Kind::Connection),
        ("socket", Kind::Connection),
        ("terminated", Kind::Connection),
    ];
    kind_in(KINDS_BY_WORDS, &words.to_lowercase())
}

/// Our clock, or what it wrote without end, cut it off: what it was at is the better reason.
fn cut_off(how: &ProcessEnd, events: &[Value], log: &str) -> Problem {
    if let Some(words) = logged(log) {
        let otherwise = match how {
            // It was ended because its service failed again.
            ProcessEnd::Cancelled => Kind::ServerError,
            _ => Kind::TimedOut,
        };
        return Problem::new(kind_in_words(&words).unwrap_or(otherwise), &words);
    }
    // Something that is no reply at all is asked for again and again.
    match of(events, "step_finish").next_back() {
        Some(end) if end["part"]["reason"] == "unknown" => {
            Problem::new(Kind::Connection, "the service did not send a valid reply")
        }
        _ => not_exited(how, ""),
    }
}

/// The words of the last error in the log.
fn logged(log: &str) -> Option<String> {
    let line = log.lines().rfind(|line| line.contains(" level=ERROR ") && line.contains("rror=\""))?;
    let (_, quoted) = line.split_once("rror=\"")?;
    // Quoted as JSON is, with more behind it.
    let start = format!("\"{quoted}");
    let first = serde_json::Deserializer::from_str(&start).into_iter::<String>().next();
    Some(first?.ok()?.trim_start_matches("AI_APICallError: ").to_owned())
}

/// Over all steps. A price that it does not know is 0 there.
fn usage(events: &[Value]) -> Option<Usage> {
    let steps: Vec<&Value> = of(events, "step_finish").map(|event| &event["part"]).collect();
    if steps.is_empty() {
        return None;
    }
    let sum = |of: fn(&Value) -> [&Value; 3]| sum_known(steps.iter().flat_map(|step| of(&step["tokens"])));
    let cost: f64 = steps.iter().filter_map(|step| step["cost"].as_f64()).sum();
    Some(Usage {
        model: None,
        tokens_in: sum(|tokens| [&tokens["input"], &tokens["cache"]["read"], &tokens["cache"]["write"]]),
        tokens_out: sum(|tokens| [&tokens["output"], &tokens["reasoning"], &Value::Null]),
        cost_microusd: Some(cost).filter(|usd| *usd > 0.0).and_then(microusd),
    })
}

#[cfg(test)]
mod tests;
