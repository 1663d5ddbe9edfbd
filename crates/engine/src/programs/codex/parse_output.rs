//! Parses the output of the program: one event a line.
//!
//! An answer is the message with which its one turn ends: a message before a broken stream or before another item is none.
//! A refusal leaves nothing at all, and exit code 0.

use crate::process::{Ended, ProcessEnd};
use crate::programs::{Kind, ParsedOutput, Problem, ReplyBody, Usage, events, kind_in, not_exited};
use serde_json::Value;

pub fn parse_output(ended: &Ended) -> ParsedOutput {
    let report = Report::read(&ended.stdout);
    let said = match &ended.how {
        ProcessEnd::Exited(code) => report.said(*code, &ended.stderr_tail),
        ProcessEnd::TimedOut => {
            Err(Problem::new(Kind::TimedOut, report.trouble.as_deref().unwrap_or_default()))
        }
        other => Err(not_exited(other, &ended.stderr_tail)),
    };
    ParsedOutput { said, usage: report.usage() }
}

/// How many of its commands ended well: it has no other way to read a file.
pub fn opened(ended: &Ended) -> Option<usize> {
    let ran = |event: &Value| {
        let item = &event["item"];
        event["type"] == "item.completed" && item["type"] == "command_execution" && item["exit_code"] == 0
    };
    Some(events(&ended.stdout).flatten().filter(ran).count())
}

/// What its events add up to.
#[derive(Default)]
struct Report {
    /// A line is no event.
    garbled: bool,
    turns_begun: usize,
    turns_completed: usize,
    failure: Option<String>,
    trouble: Option<String>,
    /// A reply broke off, or there was one.
    spent: bool,
    /// The last message, while nothing came after it.
    message: Option<String>,
    /// Whether there was a message at all.
    spoke: bool,
    tokens: Option<(Option<u64>, Option<u64>)>,
}

impl Report {
    fn read(stdout: &[u8]) -> Self {
        let mut report = Self::default();
        for event in events(stdout) {
            match event {
                Some(event) if event["type"].is_string() => report.take(&event),
                _ => report.garbled = true,
            }
        }
        report
    }

    fn take(&mut self, event: &Value) {
        let words = |value: &Value| value["message"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "turn.started" => self.turns_begun += 1,
            "turn.completed" => {
                self.turns_completed += 1;
                let count = |name: &str| event["usage"][name].as_u64();
                self.tokens = Some((count("input_tokens"), count("output_tokens")));
            }
            "turn.failed" => self.failure = Some(words(&event["error"])),
            "error" => {
                let words = words(event);
                self.spent |= words.contains("stream disconnected");
                self.trouble = Some(words);
                self.message = None;
            }
            "item.started" | "item.updated" | "item.completed" => self.take_item(event),
            _ => {}
        }
    }

    fn take_item(&mut self, event: &Value) {
        let item = &event["item"];
        match item["type"].as_str() {
            Some("agent_message") if event["type"] == "item.completed" => {
                (self.spoke, self.spent) = (true, true);
                self.message = item["text"].as_str().map(str::to_owned);
            }
            Some("agent_message" | "reasoning") => {}
            _ => self.message = None,
        }
    }

    fn said(&self, code: i32, stderr: &str) -> Result<ReplyBody, Problem> {
        if let Some(words) = &self.failure {
            return Err(failed(words));
        }
        if code != 0 {
            return Err(ended_early(code, stderr));
        }
        if self.garbled {
            let words = "the output of `codex` has a line that is not a valid event";
            return Err(Problem::new(Kind::Garbled, words));
        }
        if (self.turns_begun, self.turns_completed) != (1, 1) {
            let (begun, completed) = (self.turns_begun, self.turns_completed);
            let words = format!("expected 1 turn; turns started: {begun}, completed: {completed}");
            return Err(Problem::new(Kind::Crashed, &words));
        }
        match &self.message {
            Some(text) if text.trim().is_empty() => Err(Problem::new(Kind::Garbled, "the reply is empty")),
            Some(text) => Ok(ReplyBody::Text(text.clone())),
            None if self.spoke => Err(Problem::new(Kind::Garbled, "its turn did not end with its message")),
            None => Err(Problem::new(Kind::Refused, "its turn ended without a message")),
        }
    }

    /// It does not say which model answered, nor what a failed turn cost: nothing only where there was no reply.
    fn usage(&self) -> Option<Usage> {
        match self.tokens {
            Some((tokens_in, tokens_out)) => Some(Usage { tokens_in, tokens_out, ..Usage::default() }),
            None => self.spent.then(Usage::default),
        }
    }
}

/// A turn that failed, by the words of the program or the body of the service's answer.
fn failed(words: &str) -> Problem {
    let body = serde_json::from_str::<Value>(words).unwrap_or_default();
    if let Some(message) = body["error"]["message"].as_str() {
        let too_long = body["error"]["code"] == "context_length_exceeded";
        return Problem::new(if too_long { Kind::QuestionTooLong } else { Kind::Rejected }, message);
    }
    Problem::new(status(words).map_or_else(|| kind_in_words(words), Kind::of_status), words)
}

/// It ended without having begun, or without saying what happened.
fn ended_early(code: i32, stderr: &str) -> Problem {
    match kind_in_words(stderr) {
        Kind::QuestionTooLong => Problem::new(Kind::QuestionTooLong, stderr),
        _ => Problem::new(Kind::Crashed, &format!("exit code {code} {stderr}")),
    }
}

/// The HTTP status, where the program says so before anything of the service's.
fn status(words: &str) -> Option<u64> {
    const BEFORE: [&str; 2] = ["unexpected status ", "exceeded retry limit, last status: "];
    let rest = BEFORE.iter().find_map(|before| words.strip_prefix(before))?;
    rest.get(..3)?.parse().ok()
}

/// Where nothing but words tell the kind, from those that say most to those that say least.
fn kind_in_words(words: &str) -> Kind {
    const KINDS_BY_WORDS: &[(&str, Kind)] = &[
        ("Missing environment variable", Kind::NotSignedIn),
        ("sign in again", Kind::KeyRejected),
        ("ot logged in", Kind::NotSignedIn),
        ("usage limit", Kind::AllowanceUsedUp),
        ("rate limit", Kind::RateLimited),
        ("Quota exceeded", Kind::NoCredit),
        ("at capacity", Kind::Overloaded),
        ("high demand", Kind::ServerError),
        ("context window", Kind::QuestionTooLong),
        ("Input exceeds the maximum length", Kind::QuestionTooLong),
        ("reason: max_output_tokens", Kind::ReplyTooLong),
        ("reason: content_filter", Kind::Refused),
        ("flagged", Kind::Refused),
        ("stream disconnected", Kind::Connection),
        ("onnection failed", Kind::Connection),
        ("routing discovery failed", Kind::Connection),
        ("timeout", Kind::Connection),
        ("timed out", Kind::Connection),
        ("does not exist or you do not have access", Kind::Rejected),
    ];
    kind_in(KINDS_BY_WORDS, words).unwrap_or(Kind::Crashed)
}

#[cfg(test)]
mod tests;
