//! A service as a reviewer: one question, one request over HTTP. `messages` and `chat` build requests and parse replies,
//! `refusal` parses refusals, all pure; `exchange` sends.

mod chat;
mod exchange;
mod messages;
mod refusal;
mod schema;
mod sse;

use super::agent::told;
use super::{Asks, Brief, Failed, ReviewerReply};
use crate::http::ServiceHost;
use crate::programs::{self, Kind, ParsedOutput, Problem, ReplyBody, Usage};
use countersign_core::outcome::NoVerdict;
use exchange::{Exchange, Silence};
use serde_json::Value;
use std::fmt;
use tokio_util::sync::CancellationToken;

pub use crate::programs::Api;
pub use exchange::Probed;

/// What stands for the key wherever a service repeats it.
const KEY_MARK: &str = "(the key)";
/// Shorter keys are no secrets: local servers take `x`, `none` or `test`, which are in many replies.
const SECRET_BYTES: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub api: Api,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    pub model: String,
    /// Its key, where it needs one; or why that is not there.
    pub key: Result<Option<Key>, String>,
    pub reply_tokens: u32,
}

/// A key. It can be sent, and neither printed nor compared by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    fn hide_in(&self, text: &str) -> String {
        if self.0.len() < SECRET_BYTES { text.to_owned() } else { text.replace(&self.0, KEY_MARK) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a key)")
    }
}

struct Question<'a> {
    model: &'a str,
    system_prompt: &'a str,
    prompt: &'a str,
    schema: &'a Value,
    /// What its answer is given by: a name and a description.
    tool: (&'static str, &'static str),
    reply_tokens: u32,
    /// Whether it is asked of the vendor whose API it is.
    own: bool,
}

impl Api {
    /// Where the vendor's own service is.
    pub fn own_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}

impl Service {
    pub fn identity(&self) -> String {
        let api = match self.api {
            Api::Anthropic => "anthropic",
            Api::OpenAi => "openai",
        };
        format!("{api} {} at {}", self.model, self.base_url)
    }

    pub async fn ask(&self, brief: &Brief, cancel: &CancellationToken) -> ReviewerReply {
        self.ask_raw(brief, cancel).await.and_then(|said| brief.ruled(&said))
    }

    /// Asks the service, and comes back with what it said.
    pub async fn ask_raw(&self, brief: &Brief, cancel: &CancellationToken) -> ReviewerReply<ReplyBody> {
        let (place, key) = match self.place_and_key() {
            Ok(found) => found,
            Err(words) => return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words)),
        };
        if let Some(words) = brief.surroundings.network_problem().filter(|_| !place.is_local) {
            return ReviewerReply::not_asked(Failed::new(NoVerdict::Unavailable, words));
        }
        let schema = self.schema(brief);
        let prompt = programs::prompt(&brief.payload, false);
        let question = Question {
            model: &self.model,
            system_prompt: &brief.system_prompt,
            prompt: &prompt,
            schema: &schema,
            tool: match brief.asks {
                Asks::Rulings(_) => messages::RULINGS,
                Asks::Consultation(_) => messages::ANSWER,
            },
            reply_tokens: self.reply_tokens,
            own: self.is_own(),
        };
        let silence = Silence::usual();
        let exchange = Exchange { service: self, place: &place, key, question: &question, brief, silence };
        // Dropping the exchange closes its connection.
        let heard = tokio::select! {
            biased;
            () = cancel.cancelled() => ParsedOutput { said: Err(Problem::new(Kind::Cancelled, "")), usage: None },
            heard = exchange.within_time() => heard,
        };
        told(without_key(heard, key), |problem| place.words(problem, key.is_some()))
    }

    /// Where to ask and with which key; or why that cannot be.
    fn place_and_key(&self) -> Result<(ServiceHost, Option<&Key>), String> {
        let place = ServiceHost::of(&self.base_url)
            .ok_or_else(|| format!("`{}` is not an address", self.base_url))?;
        let it = format!("the service at {}", place.host);
        let key = self.key.as_ref().map_err(|why| format!("{it} cannot be asked: {why}"))?.as_ref();
        if key.is_some() && place.is_open() {
            return Err(format!(
                "{it} is not asked: its key would be sent unencrypted; use an `https://` address"
            ));
        }
        Ok((place, key))
    }

    fn is_own(&self) -> bool {
        self.base_url == self.api.own_url()
    }

    /// The schema of a reply; with bounds where no vendor refuses them.
    fn schema(&self, brief: &Brief) -> Value {
        let mut schema = match self.api {
            Api::Anthropic => brief.shape().schema(),
            Api::OpenAi => brief.shape().strict_schema(),
        };
        let names: Vec<&str> = brief.criteria.iter().map(|criterion| criterion.name.as_str()).collect();
        match brief.asks {
            _ if self.is_own() => {}
            Asks::Rulings(_) => schema = schema::bounded(schema, &names),
            Asks::Consultation(_) => schema::shorten(&mut schema),
        }
        schema
    }
}

/// A service may repeat the key in its reply; it is never shown.
fn without_key(heard: ParsedOutput, key: Option<&Key>) -> ParsedOutput {
    let hide = |text: &str| key.map_or_else(|| text.to_owned(), |key| key.hide_in(text));
    let said = match heard.said {
        Ok(said) => Ok(ReplyBody::Text(hide(&said.text()))),
        Err(problem) => Err(Problem { quoted: hide(&problem.quoted), ..problem }),
    };
    let name = |model: String| hide(&model);
    let usage = heard.usage.map(|usage| Usage { model: usage.model.map(name), ..usage });
    ParsedOutput { said, usage }
}

#[cfg(test)]
mod tests;
