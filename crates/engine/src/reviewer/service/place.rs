//! The messages of a problem with a service. Pure.

use crate::http::Place;
use crate::programs::{Kind, Problem};

impl Place {
    /// What happened and what to do, in words.
    pub fn words(&self, problem: &Problem, has_key: bool) -> String {
        let words = match problem.kind {
            Kind::NotSignedIn if has_key => {
                "{it} rejected the key: check the variable or the file that holds it"
            }
            Kind::NotSignedIn => "{it} needs a key: name the variable that holds it in `key_env`",
            Kind::RateLimited => "the account at {host} reached its limit: submit again later",
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
