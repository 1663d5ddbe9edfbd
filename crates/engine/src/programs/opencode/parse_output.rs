//! Parses the output of the program: one JSON object a line for steps, texts and errors.
//!
//! It ends with 0 also where a reply was cut short, and tries again in silence for a minute where its service fails: then
//! its log, on standard error, says why.

use crate::process::{Ended, ProcessEnd};
use crate::programs::{
    Kind, ParsedOutput, Problem, ReplyBody, Usage, kind_in, microusd, not_exited, stop, sum_known,
};
use serde_json::Value;

pub fn parse_output(ended: &Ended) -> ParsedOutput {
    let events: Vec<Value> = crate::programs::events(&ended.stdout).flatten().collect();
    let said = match &ended.how {
        ProcessEnd::Exited(code) => read(*code, &events, &ended.stderr_tail),
        ProcessEnd::TimedOut | ProcessEnd::TooMuchOutput { .. } => {
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
        _ => data["statusCode"]
            .as_u64()
            .map(Kind::of_status)
            .or_else(|| kind_in_words(&words))
            .unwrap_or(Kind::Crashed),
    };
    Problem::new(kind, &words)
}

fn kind_in_words(words: &str) -> Option<Kind> {
    const KINDS_BY_WORDS: &[(&str, Kind)] = &[
        ("providernoproviderserror", Kind::NotSignedIn),
        ("no providers are available", Kind::NotSignedIn),
        ("api key is missing", Kind::NotSignedIn),
        ("providermodelnotfounderror", Kind::Rejected),
        ("rate limit", Kind::RateLimited),
        ("too many requests", Kind::RateLimited),
        ("quota", Kind::RateLimited),
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
        return Problem::new(kind_in_words(&words).unwrap_or(Kind::TimedOut), &words);
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
