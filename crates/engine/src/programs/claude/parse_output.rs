//! Parses the output of the program.
//!
//! It writes a report, one JSON object; where it has files to read, one event a line before it, which say what it opened.
//! Exit code 0 also comes without an answer, and `"subtype": "success"` with every kind of failure. So an answer is only
//! what has all the marks of one.

use crate::process::{Ended, ProcessEnd};
use crate::programs;
use crate::programs::{
    Kind, ParsedOutput, Problem, ReplyBody, Usage, kind_in, microusd, not_exited, says_no_credit, stop,
    sum_known,
};
use serde_json::Value;

pub fn parse_output(ended: &Ended) -> ParsedOutput {
    let report = events(ended).and_then(|mut events| events.pop()).filter(is_report);
    let usage = report.as_ref().and_then(usage);
    let code = match &ended.how {
        ProcessEnd::Exited(code) => *code,
        other => return ParsedOutput { said: Err(not_exited(other, &ended.stderr_tail)), usage },
    };
    let said = match report {
        Some(report) => read(code, report),
        None if ended.stderr_tail.contains("stdin input exceeds") => {
            Err(Problem::new(Kind::QuestionTooLong, &ended.stderr_tail))
        }
        None if code == 0 => Err(Problem::new(Kind::Garbled, "`claude` ended without a result")),
        None => Err(Problem::new(Kind::Crashed, &format!("exit code {code} {}", ended.stderr_tail))),
    };
    ParsedOutput { said, usage }
}

/// Its events, of which the last one is its report. None where something else is among them.
fn events(ended: &Ended) -> Option<Vec<Value>> {
    let events: Vec<Value> = match serde_json::from_slice::<Value>(&ended.stdout) {
        Ok(alone) => vec![alone],
        Err(_) => programs::events(&ended.stdout)
            .map(|event| event.filter(Value::is_object))
            .collect::<Option<_>>()?,
    };
    let early =
        events.split_last().is_some_and(|(_, before)| before.iter().any(|event| event["type"] == "result"));
    (!early).then_some(events)
}

/// Whether this is its report, and not an event before it.
fn is_report(event: &Value) -> bool {
    event.is_object() && matches!(event["type"].as_str(), None | Some("result"))
}

/// How many files it read, or searched with their text.
pub fn opened(ended: &Ended) -> Option<usize> {
    let events = events(ended)?;
    // Without events, there is only the report, which does not say.
    let (_, before) = events.split_last().filter(|(_, before)| !before.is_empty())?;
    let blocks = |kind: &'static str| {
        let contents = before.iter().filter_map(|event| event["message"]["content"].as_array());
        contents.flatten().filter(move |block| block["type"] == kind)
    };
    let reads = |block: &&Value| match block["name"].as_str() {
        Some("Read") => true,
        Some("Grep") => block["input"]["output_mode"] == "content",
        _ => false,
    };
    let came = |id: &Value| {
        blocks("tool_result").any(|result| result["tool_use_id"] == *id && result["is_error"] != true)
    };
    Some(blocks("tool_use").filter(reads).filter(|block| came(&block["id"])).count())
}

fn read(code: i32, mut report: Value) -> Result<ReplyBody, Problem> {
    let field = |name: &str| report[name].as_str().unwrap_or_default();
    let in_order = report["is_error"] == false && field("subtype") == "success" && code == 0;
    if !in_order {
        return Err(Problem::new(kind(&report), words(&report)));
    }
    if !matches!(field("terminal_reason"), "" | "completed") {
        return Err(Problem::new(Kind::Crashed, field("terminal_reason")));
    }
    let answer = report["structured_output"].take();
    if answer.is_null() {
        return Err(Problem::new(Kind::Garbled, "there is no structured answer, only text or nothing"));
    }
    stop::anthropic(report["stop_reason"].as_str())?;
    Ok(ReplyBody::Structured(answer))
}

/// The kind of a failure, from the marks that say most to those that say least.
fn kind(report: &Value) -> Kind {
    let field = |name: &str| report[name].as_str().unwrap_or_default();
    match field("subtype") {
        "error_max_turns" => return Kind::TurnsUsedUp,
        "error_max_budget_usd" => return Kind::BudgetUsedUp,
        "error_max_structured_output_retries" if field("stop_reason") == "max_tokens" => {
            return Kind::ReplyTooLong;
        }
        "error_max_structured_output_retries" => return Kind::Garbled,
        _ => {}
    }
    if field("stop_reason") == "refusal" {
        return Kind::Refused;
    }
    if matches!(field("terminal_reason"), "prompt_too_long" | "blocking_limit") {
        return Kind::QuestionTooLong;
    }
    if says_no_credit(words(report)) {
        return Kind::NoCredit;
    }
    report["api_error_status"].as_u64().map_or_else(|| kind_in_words(report), Kind::of_status)
}

/// Where nothing but the program's words tell the kind.
fn kind_in_words(report: &Value) -> Kind {
    const KINDS_BY_WORDS: &[(&str, Kind)] = &[
        ("Not logged in", Kind::NotSignedIn),
        ("Invalid API key", Kind::KeyRejected),
        ("OAuth token", Kind::KeyRejected),
        ("limit reached", Kind::AllowanceUsedUp),
        ("hit your limit", Kind::AllowanceUsedUp),
        ("empty or malformed response", Kind::Connection),
        ("timed out", Kind::Connection),
        ("Connection", Kind::Connection),
    ];
    match report["api_error"].as_str() {
        Some("connection_failed") => return Kind::Connection,
        Some("max_output_tokens") => return Kind::ReplyTooLong,
        _ => {}
    }
    kind_in(KINDS_BY_WORDS, words(report)).unwrap_or(Kind::Crashed)
}

fn words(report: &Value) -> &str {
    let errors = report["errors"].as_array().and_then(|errors| errors.last());
    errors.unwrap_or(&report["result"]).as_str().unwrap_or_default()
}

/// By model, because `usage` leaves out the last turn of a failed call.
fn usage(report: &Value) -> Option<Usage> {
    let models = report["modelUsage"].as_object()?;
    let sum =
        |names: &[&str]| sum_known(models.values().flat_map(|model| names.iter().map(|name| &model[*name])));
    let most = |(_, model): &(&String, &Value)| model["outputTokens"].as_u64();
    Some(Usage {
        model: models.iter().max_by_key(most).map(|(name, _)| name.clone()),
        tokens_in: sum(&["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]),
        tokens_out: sum(&["outputTokens"]),
        cost_microusd: report["total_cost_usd"].as_f64().and_then(microusd),
    })
}

#[cfg(test)]
mod tests;
