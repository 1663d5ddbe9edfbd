//! The reply of a program or service as parsed, what it cost, and every way not to answer. Parsing itself is done per
//! program and per API.

use crate::process::ProcessEnd;
use countersign_core::outcome::NoVerdict;
use countersign_core::text;
use serde_json::Value;
use std::time::Duration;

const MICRO: f64 = 1_000_000.0;
/// How much of the program's own words is quoted.
const QUOTED_BYTES: usize = 400;

/// What an answer cost, as far as the reply says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub model: Option<String>,
    /// Tokens of the question, with those the service had kept from before.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// The price in millionths of a dollar.
    pub cost_microusd: Option<u64>,
}

impl Usage {
    /// What is known to have cost nothing.
    pub fn nothing() -> Self {
        Self { model: None, tokens_in: Some(0), tokens_out: Some(0), cost_microusd: Some(0) }
    }

    /// The same where the question was turned away: what is not counted was nothing.
    pub fn of_refusal(self) -> Self {
        Self {
            tokens_in: self.tokens_in.or(Some(0)),
            tokens_out: self.tokens_out.or(Some(0)),
            cost_microusd: self.cost_microusd.or(Some(0)),
            ..self
        }
    }

    /// The same where there was an answer. Neither a question nor an answer is without a token, so 0 is unknown.
    pub fn of_answer(self) -> Self {
        let some = |tokens: Option<u64>| tokens.filter(|tokens| *tokens > 0);
        Self { tokens_in: some(self.tokens_in), tokens_out: some(self.tokens_out), ..self }
    }
}

/// The sum of those counts that are there; none where there is none, since unknown is not 0.
pub(crate) fn sum_known<'v>(counts: impl Iterator<Item = &'v Value>) -> Option<u64> {
    counts.filter_map(Value::as_u64).reduce(u64::saturating_add)
}

/// Millionths of a dollar; none for a number that is no amount.
pub(crate) fn microusd(usd: f64) -> Option<u64> {
    (usd.is_finite() && usd >= 0.0).then(|| (usd * MICRO).round() as u64)
}

/// The JSON values of an output with one on each line; none for a line that is no JSON. Empty lines are left out.
pub(crate) fn events(stdout: &[u8]) -> impl DoubleEndedIterator<Item = Option<Value>> {
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.map(|line| serde_json::from_slice(line).ok())
}

/// The kind of the first row whose words are in a text.
pub(crate) fn kind_in(table: &[(&str, Kind)], text: &str) -> Option<Kind> {
    table.iter().find(|(words, _)| text.contains(words)).map(|(_, kind)| *kind)
}

#[derive(Clone, Debug, PartialEq)]
pub struct ParsedOutput {
    /// What it said, still to be held against the question.
    pub said: Result<ReplyBody, Problem>,
    /// What it cost, as far as the program says so; also where it failed.
    pub usage: Option<Usage>,
}

/// An answer, as far as it goes.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyBody {
    /// Data in the form that was asked for.
    Structured(Value),
    /// A text that should hold it.
    Text(String),
}

impl ReplyBody {
    /// The words of the reply, for the record.
    pub fn text(&self) -> String {
        match self {
            Self::Structured(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: Kind,
    /// The words of the program, on one line.
    pub quoted: String,
}

/// Every way not to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NotInstalled,
    /// It is there and cannot be run.
    NotStarted,
    /// There is no sign-in and no key.
    NotSignedIn,
    /// The service does not take the key or the sign-in that was sent.
    KeyRejected,
    /// The service knows who asks, and does not allow this.
    Forbidden,
    /// The account is asking too much at once.
    RateLimited,
    /// The account has used up what it may use for hours or days, so that asking again soon is of no use.
    AllowanceUsedUp,
    /// The account is empty, and does not fill up while one waits.
    NoCredit,
    /// The service has too much to do.
    Overloaded,
    ServerError,
    /// The service could not be reached, or its reply ended early.
    Connection,
    /// The service does not take the question as it is: an unknown model, for example.
    Rejected,
    Refused,
    /// The question is longer than the program or the model takes.
    QuestionTooLong,
    /// The reply is longer than the model may write, or than we read.
    ReplyTooLong,
    /// It went back and forth too often.
    TurnsUsedUp,
    BudgetUsedUp,
    TimedOut,
    /// It ended without a word, or by a signal.
    Crashed,
    Cancelled,
    /// It answered, and not in the form that was asked for.
    Garbled,
    /// It answered, and the answer ended for a reason that does not mean that it is whole.
    NotWhole,
    /// It answered without having opened the files that it had to read.
    Unread,
}

impl Kind {
    /// What the HTTP status of a service means, where nothing says more.
    pub fn of_status(status: u64) -> Self {
        match status {
            401 => Self::KeyRejected,
            402 => Self::NoCredit,
            403 => Self::Forbidden,
            413 => Self::QuestionTooLong,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            500.. => Self::ServerError,
            _ => Self::Rejected,
        }
    }
}

/// What services say of an empty account, with different statuses.
const NO_CREDIT: [&str; 7] = [
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "credits are depleted",
    "insufficient credit",
    "quota exceeded. check your plan",
    "billing hard limit",
];

/// Whether the words are those of an empty account.
pub(crate) fn says_no_credit(words: &str) -> bool {
    let words = words.to_lowercase();
    NO_CREDIT.iter().any(|mark| words.contains(mark))
}

impl Problem {
    pub fn new(kind: Kind, words: &str) -> Self {
        let line = text::visible_line(words.trim());
        Self { kind, quoted: text::cut(&line, QUOTED_BYTES).to_owned() }
    }

    pub fn why(&self) -> NoVerdict {
        match self.kind {
            Kind::TimedOut => NoVerdict::Timeout,
            Kind::Garbled | Kind::NotWhole | Kind::Unread => NoVerdict::Garbled,
            Kind::Refused => NoVerdict::Refused,
            Kind::QuestionTooLong | Kind::ReplyTooLong | Kind::TurnsUsedUp => NoVerdict::TooLong,
            _ => NoVerdict::Unavailable,
        }
    }

    /// Whether it is known that nothing was spent: the service took nothing, or was never reached.
    pub fn cost_nothing(&self) -> bool {
        matches!(
            self.kind,
            Kind::NotInstalled
                | Kind::NotStarted
                | Kind::NotSignedIn
                | Kind::KeyRejected
                | Kind::Forbidden
                | Kind::RateLimited
                | Kind::AllowanceUsedUp
                | Kind::NoCredit
                | Kind::Overloaded
                | Kind::ServerError
                | Kind::Rejected
                | Kind::QuestionTooLong
        )
    }

    /// Whether it may go better a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.kind, Kind::RateLimited | Kind::Overloaded | Kind::ServerError)
    }

    /// The wait that the service asks for, where its words say so.
    pub(crate) fn asked_for(&self) -> Option<Duration> {
        const BEFORE: [&str; 4] = ["try again in ", "retry in ", "retry after ", "retry-after: "];
        let words = self.quoted.to_lowercase();
        let rest = BEFORE.iter().find_map(|before| Some(words.split_once(before)?.1))?;
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let number: f64 = rest[..digits].trim_end_matches('.').parse().ok()?;
        let unit = rest[digits..].trim_start();
        let seconds = match unit {
            _ if unit.starts_with("ms") || unit.starts_with("milli") => number / 1000.0,
            _ if unit.starts_with('m') => number * 60.0,
            _ if unit.starts_with('h') => number * 3600.0,
            _ => number,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The same, with the wait that the service asks for and that is too long.
    pub(crate) fn asking_to_wait(&self, wait: Duration) -> Self {
        let words = format!("{}; it asks to wait {} s", self.quoted, wait.as_secs());
        Self { quoted: words, ..self.clone() }
    }

    pub fn words(&self, asked: &ProgramName<'_>) -> String {
        let words = match self.kind {
            Kind::NotInstalled => "{name} is not installed, or not on the PATH; see {install}",
            Kind::NotStarted => "{name} could not be started",
            Kind::NotSignedIn => "{name} is not signed in: {sign_in}",
            Kind::KeyRejected => {
                "the service behind {name} rejected the key or sign-in that it was sent: check the key, or sign in again"
            }
            Kind::Forbidden => {
                "the service behind {name} does not allow this to your account: check which models it may use, or ask \
                 another reviewer"
            }
            Kind::RateLimited | Kind::AllowanceUsedUp => {
                "the account of {name} reached its rate limit: submit again later"
            }
            Kind::NoCredit => "the account of {name} has no credit left: add credit, or ask another reviewer",
            Kind::Overloaded => "the service behind {name} is overloaded: submit again in a few minutes",
            Kind::ServerError => "the service behind {name} failed: submit again in a few minutes",
            Kind::Connection => "the reply of the service behind {name} ended early; check network and proxy",
            Kind::Rejected => "the service behind {name} rejected the question: check `model`",
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person",
            Kind::QuestionTooLong => "the question is too long for {name}: submit fewer or smaller files",
            Kind::ReplyTooLong => "the reply of {name} was too long: submit fewer files at once",
            Kind::TurnsUsedUp => "{name} did not finish within its allowed turns: submit fewer files at once",
            Kind::BudgetUsedUp => "{name} has used up its budget",
            Kind::TimedOut => "{name} took too long: raise `timeout_seconds`, or submit fewer files",
            Kind::Crashed => "{name} ended unexpectedly",
            Kind::Cancelled => "{name} was cancelled",
            Kind::Garbled => "the reply is not in the form that was asked for",
            Kind::NotWhole => "the reply may be incomplete",
            Kind::Unread => "{name} answered without opening the files that it had to read",
        };
        let words = words.replace("{install}", asked.install).replace("{sign_in}", asked.sign_in);
        self.with_quote(words.replace("{name}", asked.name))
    }

    /// Words about this problem, followed by those of the program or service.
    pub(crate) fn with_quote(&self, words: String) -> String {
        if self.quoted.is_empty() { words } else { format!("{words} ({})", self.quoted) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramName<'a> {
    pub name: &'a str,
    pub install: &'a str,
    pub sign_in: &'a str,
}

/// What it means that a program did not end by itself.
pub fn not_exited(how: &ProcessEnd, stderr: &str) -> Problem {
    match how {
        ProcessEnd::NotStarted { reason } if reason == "no such program" => {
            Problem::new(Kind::NotInstalled, "")
        }
        ProcessEnd::NotStarted { reason } => Problem::new(Kind::NotStarted, reason),
        ProcessEnd::TimedOut => Problem::new(Kind::TimedOut, ""),
        ProcessEnd::TooMuchOutput { .. } => Problem::new(Kind::ReplyTooLong, ""),
        ProcessEnd::Cancelled => Problem::new(Kind::Cancelled, ""),
        ProcessEnd::GuardLost => Problem::new(Kind::Crashed, "its guard ended unexpectedly"),
        ProcessEnd::Signalled(signal) => Problem::new(Kind::Crashed, &format!("signal {signal} {stderr}")),
        ProcessEnd::Exited(code) => Problem::new(Kind::Crashed, &format!("exit code {code} {stderr}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn issue_23_the_wait_that_a_service_asks_for_is_found_in_its_words() {
        let millis =
            |words: &str| Problem::new(Kind::RateLimited, words).asked_for().map(|wait| wait.as_millis());
        for (words, expected) in [
            ("Rate limit reached. Please try again in 0.2s.", Some(200)),
            ("Please try again in 350ms", Some(350)),
            ("You exceeded your quota. Please retry in 3600s.", Some(3_600_000)),
            ("Suggested retry after 7s", Some(7_000)),
            ("try again in 2 minutes", Some(120_000)),
            ("try again in 1h", Some(3_600_000)),
            ("try again in 99999999999999999999999999 s", None),
            ("try again at 12:19 PM", None),
            ("try again in a while", None),
            ("slow down", None),
        ] {
            assert_eq!(millis(words), expected, "{words}");
        }
    }

    #[test]
    fn what_nobody_counted_is_not_nothing() {
        let sum = |counts: Value| sum_known(counts.as_array().unwrap().iter());
        assert_eq!(sum(json!([])), None);
        assert_eq!(sum(json!([null, -5, 1.5, "7"])), None);
        assert_eq!(sum(json!([3, null, 4])), Some(7));
        assert_eq!(sum(json!([u64::MAX, 1])), Some(u64::MAX));
        let usage = |tokens| Usage { tokens_in: tokens, tokens_out: tokens, ..Usage::default() };
        assert_eq!(usage(Some(0)).of_answer(), usage(None));
        assert_eq!(usage(Some(7)).of_answer(), usage(Some(7)));
        assert_eq!(usage(None).of_refusal(), Usage::nothing());
        assert_eq!(usage(Some(7)).of_refusal().tokens_in, Some(7));
    }
}
