//! Parses the output of the program.
//!
//! With exit code 0 it writes one JSON object, with or without an answer. Otherwise it writes one to the end of its
//! standard error, after other lines, and exits with a code of its own or with the lowest eight bits of the status of its
//! service.

use crate::process::{Ended, ProcessEnd};
use crate::programs::{Kind, ParsedOutput, Problem, ReplyBody, Usage, kind_in, not_exited, sum_known};
use serde_json::{Value, json};

const EXIT_SIGN_IN: i32 = 41;
/// It went back and forth too often.
const EXIT_TURNS: i32 = 53;
/// What the lowest eight bits of a status between 400 and 511 leave out.
const STATUS_REST: i32 = 256;

/// Words that tell more than a status does.
const KINDS_BY_WORDS: &[(&str, Kind)] = &[
    ("API key not valid", Kind::KeyRejected),
    ("API key expired", Kind::KeyRejected),
    ("API_KEY_INVALID", Kind::KeyRejected),
    ("daily quota", Kind::AllowanceUsedUp),
    ("credits are depleted", Kind::NoCredit),
    ("check your billing account", Kind::NoCredit),
    ("exceeds the maximum number of tokens", Kind::QuestionTooLong),
    ("payload size exceeds", Kind::QuestionTooLong),
];

const KINDS_WITHOUT_STATUS: &[(&str, Kind)] = &[
    ("is not found", Kind::Rejected),
    ("entity was not found", Kind::Rejected),
    ("fetch failed", Kind::Connection),
    ("terminated", Kind::Connection),
    ("Incomplete JSON segment", Kind::Connection),
    ("ECONN", Kind::Connection),
    ("ENOTFOUND", Kind::Connection),
    ("ETIMEDOUT", Kind::Connection),
    ("socket hang up", Kind::Connection),
];

/// Words beside an answer, or instead of one, where the program found nothing wrong with itself.
const KINDS_OF_REPLIES: &[(&str, Kind)] = &[
    ("blocked due to", Kind::Refused),
    ("exceeded the token limit", Kind::ReplyTooLong),
    ("without a finish reason", Kind::Connection),
    ("Maximum session turns", Kind::TurnsUsedUp),
];

pub fn parse_output(ended: &Ended) -> ParsedOutput {
    let report: Option<Value> = serde_json::from_slice(&ended.stdout).ok().filter(Value::is_object);
    let usage = report.as_ref().and_then(usage);
    let said = match &ended.how {
        // The question was cut, and only this line says so: the answer is about something else.
        ProcessEnd::Exited(_) if ended.stderr_tail.contains("stdin input truncated") => {
            Err(Problem::new(Kind::QuestionTooLong, "the program did not read it to its end"))
        }
        ProcessEnd::Exited(0) => match report {
            Some(report) => read(&report),
            // So it ends when it is told to go.
            None if ended.stdout.is_empty() => Err(Problem::new(Kind::Crashed, "it ended without output")),
            None => Err(Problem::new(Kind::Garbled, "`gemini` ended without a result")),
        },
        ProcessEnd::Exited(code) => Err(failure(*code, &ended.stderr_tail)),
        other => Err(not_exited(other, &ended.stderr_tail)),
    };
    ParsedOutput { said, usage }
}

fn read(report: &Value) -> Result<ReplyBody, Problem> {
    let of_reply = |words: &str, otherwise: Kind| {
        Err(Problem::new(kind_in(KINDS_OF_REPLIES, words).unwrap_or(otherwise), words))
    };
    if !report["error"].is_null() {
        return of_reply(report["error"]["message"].as_str().unwrap_or_default(), Kind::Garbled);
    }
    // With any warning the reply may be incomplete.
    if !report["warnings"].is_null() {
        return of_reply(&report["warnings"].to_string(), Kind::Crashed);
    }
    match report["response"].as_str() {
        Some(text) if !text.trim().is_empty() => Ok(ReplyBody::Text(text.to_owned())),
        // It counted the tokens by itself and asked no model.
        Some(_) if report["stats"]["models"] == json!({}) => Err(Problem::new(
            Kind::QuestionTooLong,
            "it counted the tokens itself and did not send the question",
        )),
        _ => Err(Problem::new(Kind::Garbled, "the reply is empty")),
    }
}

/// How many files it read, or searched with their text, by its own count.
pub fn opened(ended: &Ended) -> Option<usize> {
    const READING: [&str; 4] = ["read_file", "read_many_files", "grep_search", "search_file_content"];
    let report: Value = serde_json::from_slice(&ended.stdout).ok()?;
    let tools = report["stats"]["tools"]["byName"].as_object()?;
    let counts = READING.iter().filter_map(|name| tools.get(*name)?["success"].as_u64());
    Some(usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX))
}

/// What an exit code and the words before it mean.
fn failure(code: i32, stderr: &str) -> Problem {
    let report = last_report(stderr).unwrap_or_default();
    let message = report["error"]["message"].as_str();
    let unreported = format!("exit code {code} {}", stderr.lines().next_back().unwrap_or_default());
    let words = message.unwrap_or(&unreported);
    let kind = kind_in(KINDS_BY_WORDS, words).unwrap_or_else(|| match (code + STATUS_REST, code) {
        (status @ 400..512, _) => Kind::of_status(u64::from(status.unsigned_abs())),
        (_, EXIT_SIGN_IN) => Kind::NotSignedIn,
        (_, EXIT_TURNS) => Kind::TurnsUsedUp,
        _ => kind_in(KINDS_WITHOUT_STATUS, words).unwrap_or(Kind::Crashed),
    });
    Problem::new(kind, &of_service(words).unwrap_or_else(|| words.to_owned()))
}

/// The last object that reports an error. Other lines stand before it, and some after it.
fn last_report(stderr: &str) -> Option<Value> {
    let from = |(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&stderr[at..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| value["error"].is_object())
    };
    stderr.rmatch_indices('{').find_map(from)
}

/// The words of the service, where the program passes on its whole reply as text.
fn of_service(message: &str) -> Option<String> {
    let reply: Value = serde_json::from_str(message).ok()?;
    let error = &reply["error"];
    let words = error["message"].as_str()?;
    Some(format!("{} {words}", error["code"]))
}

/// By model: one that answered has more than one that was only asked.
fn usage(report: &Value) -> Option<Usage> {
    let models = report["stats"]["models"].as_object().filter(|models| !models.is_empty())?;
    fn of<'v>(model: &'v Value, names: &'static [&str]) -> impl Iterator<Item = &'v Value> {
        names.iter().map(|name| &model["tokens"][*name])
    }
    const WRITTEN: &[&str] = &["candidates", "thoughts"];
    Some(Usage {
        model: models
            .iter()
            .max_by_key(|(_, model)| sum_known(of(model, WRITTEN)))
            .map(|(name, _)| name.clone()),
        tokens_in: sum_known(models.values().flat_map(|model| of(model, &["prompt"]))),
        tokens_out: sum_known(models.values().flat_map(|model| of(model, WRITTEN))),
        cost_microusd: None,
    })
}

#[cfg(test)]
mod tests;
