//! Parses refusals of services: from a status and a body, or an error in a stream, to a kind; and the messages of each
//! kind. Pure.

use crate::http::ServiceHost;
use crate::programs::{Kind, Problem, says_no_credit};
use serde_json::Value;

/// What services say of a question that is longer than the model takes.
const TOO_LONG: [&str; 9] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "request_too_large",
    "string_above_max_length",
];

/// What services say that know no schema for a reply.
const NO_SCHEMA: [&str; 4] = ["response_format", "json_schema", "unsupported", "not supported"];

pub fn problem(status: u16, body: &str) -> Problem {
    let words = words(body);
    Problem::new(kind(status, &words), &format!("{status} {words}"))
}

fn kind(status: u16, words: &str) -> Kind {
    match status {
        401 | 413 => Kind::of_status(status.into()),
        400..500 if says_no_credit(words) => Kind::NoCredit,
        403 => Kind::Forbidden,
        400 | 422 if has(words, &TOO_LONG) => Kind::QuestionTooLong,
        // llama.cpp says so with 500.
        500.. if has(words, &["exceed_context_size"]) => Kind::QuestionTooLong,
        status => Kind::of_status(status.into()),
    }
}

/// Whether waiting is of no use, whatever the status says.
pub fn is_final(body: &str) -> bool {
    says_no_credit(&words(body))
}

/// Whether the schema of the reply is what a service does not take.
pub fn is_about_schema(status: u16, body: &str) -> bool {
    matches!(status, 400 | 404 | 422) && has(&words(body), &NO_SCHEMA) && !has(&words(body), &TOO_LONG)
}

/// What an error in the middle of a stream means: `error` has a type and words, and sometimes a status.
pub fn in_stream(error: &Value) -> Problem {
    let words = described(error);
    let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let kind = match error["type"].as_str().unwrap_or_default() {
        "overloaded_error" => Kind::Overloaded,
        "rate_limit_error" => Kind::RateLimited,
        "api_error" | "server_error" => Kind::ServerError,
        "authentication_error" => Kind::KeyRejected,
        "permission_error" => Kind::Forbidden,
        _ => kind(code.unwrap_or(400), &words),
    };
    Problem::new(kind, &words)
}

/// The words of a refusal: what the service says, or the body as it is.
fn words(body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    match (&json["error"], &json["message"]) {
        (Value::String(words), _) | (Value::Null, Value::String(words)) => words.clone(),
        (error @ Value::Object(_), _) => described(error),
        _ => body.trim().to_owned(),
    }
}

fn described(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().filter(|text| !text.is_empty());
    let name = text("code").or_else(|| text("type"));
    let parts: Vec<&str> = [name, text("message")].into_iter().flatten().collect();
    if parts.is_empty() { error.to_string() } else { parts.join(": ") }
}

fn has(words: &str, marks: &[&str]) -> bool {
    let words = words.to_lowercase();
    marks.iter().any(|mark| words.contains(mark))
}

impl ServiceHost {
    pub fn words(&self, problem: &Problem, has_key: bool) -> String {
        let words = match problem.kind {
            Kind::KeyRejected if has_key => {
                "{it} rejected the key: check the variable or the file that holds it"
            }
            Kind::NotSignedIn | Kind::KeyRejected => {
                "{it} needs a key: name the variable that holds it in `key_env`"
            }
            Kind::Forbidden => {
                "{it} does not allow this to your account: check which models it may use, or ask another reviewer"
            }
            Kind::RateLimited | Kind::AllowanceUsedUp => {
                "the account at {host} reached its limit: submit again later"
            }
            Kind::NoCredit => "the account at {host} has no credit left: add credit, or ask another reviewer",
            Kind::Overloaded => "{it} is overloaded: submit again in a few minutes",
            Kind::ServerError => "{it} failed: submit again in a few minutes",
            Kind::NotStarted | Kind::NotInstalled if self.is_local => {
                "{it} cannot be reached: is it running?"
            }
            Kind::NotStarted | Kind::NotInstalled => {
                "{it} cannot be reached: check `base_url`, network and proxy"
            }
            Kind::Connection => "the reply of {it} ended early; check `base_url`, network and proxy",
            Kind::Rejected => "{it} rejected the question: check `base_url` and `model`",
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person",
            Kind::QuestionTooLong => "the question is too long for {it}: submit fewer or smaller files",
            Kind::ReplyTooLong => {
                "the reply of {it} was too long: submit fewer files at once, or raise `reply_tokens` or `reply_bytes`"
            }
            Kind::TimedOut => "{it} took too long: raise `timeout_seconds`, or submit fewer files",
            Kind::Cancelled => "the question to {it} was cancelled",
            Kind::Garbled => "the reply is not in the form that was asked for",
            Kind::NotWhole | Kind::Unread => "the reply of {it} may be incomplete",
            Kind::TurnsUsedUp | Kind::BudgetUsedUp | Kind::Crashed => "{it} ended unexpectedly",
        };
        let words = words.replace("{it}", "the service at {host}");
        problem.with_quote(words.replace("{host}", &self.host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(kind: &str, code: Option<&str>, message: &str) -> String {
        json!({ "error": { "type": kind, "code": code, "message": message } }).to_string()
    }

    #[test]
    fn every_refusal_has_its_kind() {
        let long = error("invalid_request_error", None, "prompt is too long: 210000 tokens > 200000 maximum");
        let longer = error("invalid_request_error", Some("context_length_exceeded"), "This model's maximum…");
        let llama =
            error("exceed_context_size_error", None, "the request exceeds the available context size");
        let quota =
            error("insufficient_quota", Some("insufficient_quota"), "You exceeded your current quota");
        let empty = error("invalid_request_error", None, "Your credit balance is too low to access the API");
        let other = error("invalid_request_error", None, "model: nope");
        let table = [
            (400, other.as_str(), Kind::Rejected),
            (400, &long, Kind::QuestionTooLong),
            (400, &longer, Kind::QuestionTooLong),
            (400, &llama, Kind::QuestionTooLong),
            (500, &llama, Kind::QuestionTooLong),
            (400, &empty, Kind::NoCredit),
            (401, &other, Kind::KeyRejected),
            (402, &other, Kind::NoCredit),
            (403, &other, Kind::Forbidden),
            (403, &empty, Kind::NoCredit),
            (404, &other, Kind::Rejected),
            (413, "", Kind::QuestionTooLong),
            (422, &other, Kind::Rejected),
            (429, &other, Kind::RateLimited),
            (429, &quota, Kind::NoCredit),
            (500, &other, Kind::ServerError),
            (502, "<html>bad gateway", Kind::ServerError),
            (503, "", Kind::Overloaded),
            (504, "", Kind::ServerError),
            (529, &other, Kind::Overloaded),
            (301, "", Kind::Rejected),
        ];
        for (status, body, expected) in table {
            assert_eq!(problem(status, body).kind, expected, "{status} {body}");
        }
        assert!(is_final(&quota) && is_final(&empty) && !is_final(&long) && !is_final(""));
    }

    #[test]
    fn its_words_are_quoted_without_their_wrapping() {
        let table = [
            (error("requests", Some("slow_down"), "Slow down"), "429 slow_down: Slow down"),
            (error("rate_limit_error", None, "come back"), "429 rate_limit_error: come back"),
            (json!({ "error": "no such model" }).to_string(), "429 no such model"),
            (json!({ "message": "no" }).to_string(), "429 no"),
            (json!({ "error": { "code": 7 } }).to_string(), "429 {\"code\":7}"),
            ("<html>\n".to_owned(), "429 <html>"),
            (String::new(), "429"),
        ];
        for (body, expected) in table {
            assert_eq!(problem(429, &body).quoted, expected, "{body}");
        }
        assert!(problem(400, &"x".repeat(10_000)).quoted.len() <= 400);
    }

    #[test]
    fn a_schema_that_is_not_taken_is_noticed() {
        let about = |status, message| is_about_schema(status, &error("invalid_request_error", None, message));
        assert!(about(400, "Unknown parameter: response_format"));
        assert!(about(422, "json_schema is not allowed here"));
        assert!(about(404, "this feature is not supported"));
        assert!(!about(400, "model: nope"));
        assert!(!about(500, "response_format"));
        assert!(!about(400, "with response_format this exceeds the context window"));
    }

    #[test]
    fn an_error_in_a_stream_has_its_kind() {
        let table = [
            (json!({ "type": "overloaded_error", "message": "Overloaded" }), Kind::Overloaded),
            (json!({ "type": "rate_limit_error" }), Kind::RateLimited),
            (json!({ "type": "api_error" }), Kind::ServerError),
            (json!({ "type": "authentication_error" }), Kind::KeyRejected),
            (json!({ "type": "permission_error" }), Kind::Forbidden),
            (json!({ "type": "invalid_request_error", "message": "no" }), Kind::Rejected),
            (json!({ "code": 500, "message": "broke" }), Kind::ServerError),
            (json!({ "code": "context_length_exceeded" }), Kind::QuestionTooLong),
            (json!({}), Kind::Rejected),
        ];
        for (error, expected) in table {
            assert_eq!(in_stream(&error).kind, expected, "{error}");
        }
    }
}
