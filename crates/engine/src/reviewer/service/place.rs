//! The messages of a problem with a service. Pure.

use crate::http::Place;
use crate::programs::{Kind, Problem};

impl Place {
    /// What happened and what to do, in words.
    pub fn words(&self, problem: &Problem, has_key: bool) -> String {
        let words = match problem.kind {
            Kind::NotSignedIn if has_key => {
                "{it} does not take the key: look at the variable or the file that holds it"
            }
            Kind::NotSignedIn => "{it} wants a key: name the variable that holds it in `key_env`",
            Kind::RateLimited => "the account at {host} is at its limit: hand it in again later",
            Kind::Overloaded => "{it} is overloaded: hand it in again in a while",
            Kind::ServerError => "{it} failed: hand it in again in a while",
            Kind::NotStarted | Kind::NotInstalled if self.is_local => {
                "{it} cannot be reached: is it running?"
            }
            Kind::NotStarted | Kind::NotInstalled => {
                "{it} cannot be reached: look at `base_url`, network and proxy"
            }
            Kind::Connection => "{it} gave no whole reply: look at `base_url`, network and proxy",
            Kind::Rejected => "{it} did not take the question: look at `base_url` and `model`",
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person",
            Kind::QuestionTooLong => "the question is too long for {it}: hand in fewer or smaller files",
            Kind::ReplyTooLong => {
                "the reply of {it} was too long: ask less at once, or raise `reply_tokens` or `reply_bytes`"
            }
            Kind::TimedOut => "{it} took too long: raise `timeout_seconds`, or hand in fewer files",
            Kind::Cancelled => "the question to {it} was cancelled",
            Kind::Garbled => "the reply is not in the form that was asked for",
            Kind::NotWhole | Kind::Unread => "the reply of {it} may be a part of one",
            Kind::TurnsUsedUp | Kind::BudgetUsedUp | Kind::Crashed => "{it} broke off",
        };
        let words = words.replace("{it}", "the service at {host}");
        problem.with_quote(words.replace("{host}", &self.host))
    }
}
