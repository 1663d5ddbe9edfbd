//! What the program says, and what it means by it.
//!
//! It writes one JSON object. Its exit code and its `subtype` say little: exit 0 comes without an answer, and
//! `"subtype": "success"` with every kind of failure. So an answer is only what has all the marks of one.

use crate::process::{Ended, How};
use crate::programs::Usage;
use countersign_core::outcome::NoVerdict;
use countersign_core::text;
use serde_json::Value;

/// How much of the program's own words is quoted.
const QUOTED_BYTES: usize = 400;
const MICRO: f64 = 1_000_000.0;

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The structured answer, still to be held against the question.
    pub said: Result<Value, Problem>,
    /// What it cost, as far as the program says so; also where it failed.
    pub usage: Option<Usage>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind.
    pub kind: Kind,
    /// The words of the program, on one line.
    pub quoted: String,
}

/// Every way not to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// There is no such program.
    NotInstalled,
    /// It is there and cannot be run.
    NotStarted,
    /// Nobody is signed in, or the key is not good.
    NotSignedIn,
    /// The account has used up what it may use for now.
    RateLimited,
    /// The service has too much to do.
    Overloaded,
    /// The service failed.
    ServerError,
    /// The service could not be reached, or its reply broke off.
    Connection,
    /// The service does not take the question as it is: an unknown model, an empty account.
    Rejected,
    /// The model declined.
    Refused,
    /// The question is longer than the program or the model takes.
    QuestionTooLong,
    /// The reply is longer than the model may write, or than we read.
    ReplyTooLong,
    /// It went back and forth too often.
    TurnsUsedUp,
    /// It has spent what it may spend.
    BudgetUsedUp,
    /// It took too long.
    TimedOut,
    /// It ended without a word, or by a signal.
    Crashed,
    /// We do not want it any more.
    Cancelled,
    /// It answered, and not in the form that was asked for.
    Garbled,
}

impl Problem {
    fn new(kind: Kind, words: &str) -> Self {
        let line = text::visible_line(words.trim());
        Self { kind, quoted: text::cut(&line, QUOTED_BYTES).to_owned() }
    }

    /// The reason for "no verdict".
    pub fn why(&self) -> NoVerdict {
        match self.kind {
            Kind::TimedOut => NoVerdict::Timeout,
            Kind::Garbled => NoVerdict::Garbled,
            Kind::Refused => NoVerdict::Refused,
            Kind::QuestionTooLong | Kind::ReplyTooLong | Kind::TurnsUsedUp => NoVerdict::TooLong,
            _ => NoVerdict::Unavailable,
        }
    }

    /// What happened and what to do, in words.
    pub fn words(&self) -> String {
        let words = match self.kind {
            Kind::NotInstalled => {
                "`claude` is not installed, or not on the PATH; see https://code.claude.com/docs"
            }
            Kind::NotStarted => "`claude` could not be started",
            Kind::NotSignedIn => {
                "`claude` is not signed in: run `claude` once and sign in, or set ANTHROPIC_API_KEY"
            }
            Kind::RateLimited => "the account of `claude` is at its rate limit: hand it in again later",
            Kind::Overloaded => "the service behind `claude` is overloaded: hand it in again in a while",
            Kind::ServerError => "the service behind `claude` failed: hand it in again in a while",
            Kind::Connection => "`claude` got no whole reply from its service: look at network and proxy",
            Kind::Rejected => "the service behind `claude` did not take the question",
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person",
            Kind::QuestionTooLong => "the question is too long for `claude`: hand in fewer or smaller files",
            Kind::ReplyTooLong => "the reply of `claude` was too long: ask less at once",
            Kind::TurnsUsedUp => {
                "`claude` did not come to an end within its turns: hand in fewer files at once"
            }
            Kind::BudgetUsedUp => "`claude` has used up its budget",
            Kind::TimedOut => "`claude` took too long: raise `timeout_seconds`, or hand in fewer files",
            Kind::Crashed => "`claude` broke off",
            Kind::Cancelled => "`claude` was cancelled",
            Kind::Garbled => "the reply is not in the form that was asked for",
        };
        if self.quoted.is_empty() { words.to_owned() } else { format!("{words} ({})", self.quoted) }
    }
}

/// Reads what is left of an ended call.
pub fn hear(ended: &Ended) -> Heard {
    let report: Option<Value> = serde_json::from_slice(&ended.stdout).ok().filter(Value::is_object);
    let usage = report.as_ref().and_then(usage);
    let code = match &ended.how {
        How::Exited(code) => *code,
        other => return Heard { said: Err(not_exited(other, &ended.stderr_tail)), usage },
    };
    let said = match report {
        Some(report) => read(code, report),
        None if ended.stderr_tail.contains("stdin input exceeds") => {
            Err(Problem::new(Kind::QuestionTooLong, &ended.stderr_tail))
        }
        None if code == 0 => Err(Problem::new(Kind::Garbled, "`claude` ended without a result")),
        None => Err(Problem::new(Kind::Crashed, &format!("exit code {code} {}", ended.stderr_tail))),
    };
    Heard { said, usage }
}

fn not_exited(how: &How, stderr: &str) -> Problem {
    match how {
        How::NotStarted { reason } if reason == "no such program" => Problem::new(Kind::NotInstalled, ""),
        How::NotStarted { reason } => Problem::new(Kind::NotStarted, reason),
        How::TimedOut => Problem::new(Kind::TimedOut, ""),
        How::TooMuchOutput { .. } => Problem::new(Kind::ReplyTooLong, ""),
        How::Cancelled => Problem::new(Kind::Cancelled, ""),
        How::GuardLost => Problem::new(Kind::Crashed, "its guard ended unexpectedly"),
        How::Signalled(signal) => Problem::new(Kind::Crashed, &format!("signal {signal} {stderr}")),
        How::Exited(code) => Problem::new(Kind::Crashed, &format!("exit code {code} {stderr}")),
    }
}

fn read(code: i32, mut report: Value) -> Result<Value, Problem> {
    let field = |name: &str| report[name].as_str().unwrap_or_default();
    let in_order = report["is_error"] == false && field("subtype") == "success" && code == 0;
    if !in_order {
        return Err(Problem::new(kind(&report), words(&report)));
    }
    if !matches!(field("terminal_reason"), "" | "completed") {
        return Err(Problem::new(Kind::Crashed, field("terminal_reason")));
    }
    match report["structured_output"].take() {
        Value::Null => {
            Err(Problem::new(Kind::Garbled, "there is no structured answer, only text or nothing"))
        }
        answer => Ok(answer),
    }
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
    match report["api_error_status"].as_u64() {
        Some(401 | 403) => Kind::NotSignedIn,
        Some(413) => Kind::QuestionTooLong,
        Some(429) => Kind::RateLimited,
        Some(503 | 529) => Kind::Overloaded,
        Some(500..) => Kind::ServerError,
        Some(_) => Kind::Rejected,
        None => kind_in_words(report),
    }
}

/// Where nothing but the program's words tell the kind.
fn kind_in_words(report: &Value) -> Kind {
    const SAID: &[(&str, Kind)] = &[
        ("Not logged in", Kind::NotSignedIn),
        ("Invalid API key", Kind::NotSignedIn),
        ("OAuth token", Kind::NotSignedIn),
        ("limit reached", Kind::RateLimited),
        ("hit your limit", Kind::RateLimited),
        ("empty or malformed response", Kind::Connection),
        ("timed out", Kind::Connection),
        ("Connection", Kind::Connection),
    ];
    match report["api_error"].as_str() {
        Some("connection_failed") => return Kind::Connection,
        Some("max_output_tokens") => return Kind::ReplyTooLong,
        _ => {}
    }
    let said = words(report);
    SAID.iter().find(|(mark, _)| said.contains(mark)).map_or(Kind::Crashed, |(_, kind)| *kind)
}

fn words(report: &Value) -> &str {
    let errors = report["errors"].as_array().and_then(|errors| errors.last());
    errors.unwrap_or(&report["result"]).as_str().unwrap_or_default()
}

/// By model, because `usage` leaves out the last turn of a failed call.
fn usage(report: &Value) -> Option<Usage> {
    let models = report["modelUsage"].as_object()?;
    let sum = |names: &[&str]| {
        let of = |model: &Value| names.iter().filter_map(|name| model[*name].as_u64()).sum::<u64>();
        models.values().map(of).sum()
    };
    let most = |(_, model): &(&String, &Value)| model["outputTokens"].as_u64();
    let cost = report["total_cost_usd"].as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0);
    Some(Usage {
        model: models.iter().max_by_key(most).map(|(name, _)| name.clone()),
        tokens_in: Some(sum(&["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"])),
        tokens_out: Some(sum(&["outputTokens"])),
        cost_microusd: cost.map(|usd| (usd * MICRO).round() as u64),
    })
}

#[cfg(test)]
mod tests;
