//! How messages speak of a service. Pure.

use crate::http::Place;
use crate::programs::{Kind, Problem};

impl Place {
    /// What happened and what to do, in words.
    pub fn words(&self, problem: &Problem, has_key: bool) -> String {
        let it = format!("the service at {}", self.host);
        let words = match problem.kind {
            Kind::NotSignedIn if has_key => {
                format!("{it} does not take the key: look at the variable or the file that holds it")
            }
            Kind::NotSignedIn => format!("{it} wants a key: name the variable that holds it in `key_env`"),
            Kind::RateLimited => {
                format!("the account at {} is at its limit: hand it in again later", self.host)
            }
            Kind::Overloaded => format!("{it} is overloaded: hand it in again in a while"),
            Kind::ServerError => format!("{it} failed: hand it in again in a while"),
            Kind::NotStarted | Kind::NotInstalled if self.is_local => {
                format!("{it} cannot be reached: is it running?")
            }
            Kind::NotStarted | Kind::NotInstalled => {
                format!("{it} cannot be reached: look at `base_url`, network and proxy")
            }
            Kind::Connection => format!("{it} gave no whole reply: look at `base_url`, network and proxy"),
            Kind::Rejected => format!("{it} did not take the question: look at `base_url` and `model`"),
            Kind::Refused => "the model declined to judge this: ask another reviewer, or a person".to_owned(),
            Kind::QuestionTooLong => {
                format!("the question is too long for {it}: hand in fewer or smaller files")
            }
            Kind::ReplyTooLong => {
                format!(
                    "the reply of {it} was too long: ask less at once, or raise `reply_tokens` or `reply_bytes`"
                )
            }
            Kind::TimedOut => {
                format!("{it} took too long: raise `timeout_seconds`, or hand in fewer files")
            }
            Kind::Cancelled => format!("the question to {it} was cancelled"),
            Kind::Garbled => "the reply is not in the form that was asked for".to_owned(),
            Kind::NotWhole | Kind::Unread => format!("the reply of {it} may be a part of one"),
            Kind::TurnsUsedUp | Kind::BudgetUsedUp | Kind::Crashed => format!("{it} broke off"),
        };
        if problem.quoted.is_empty() { words } else { format!("{words} ({})", problem.quoted) }
    }
}
