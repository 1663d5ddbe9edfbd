//! A service as a reviewer: one question, one request over HTTP.

use super::{Brief, Told};
use countersign_core::outcome::NoVerdict;
use std::fmt;
use tokio_util::sync::CancellationToken;

pub use crate::config::Api;

/// A service, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// What it speaks.
    pub api: Api,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// The model to ask.
    pub model: String,
    /// Its key, where it needs one; or why that is not there.
    pub key: Result<Option<Key>, String>,
    /// The most tokens of a reply.
    pub reply_tokens: u32,
}

/// A key. It can be sent, and neither printed nor compared by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, as it was found.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a key)")
    }
}

impl Service {
    /// What makes its answers its own.
    pub fn identity(&self) -> String {
        let api = match self.api {
            Api::Anthropic => "anthropic",
            Api::OpenAi => "openai",
        };
        format!("{api} {} at {}", self.model, self.base_url)
    }

    /// Asks the service.
    pub async fn ask(&self, brief: &Brief, cancel: &CancellationToken) -> Told {
        let _ = (brief, cancel, &self.key.as_ref().map(|key| key.as_ref().map(|key| &key.0)));
        Told::failed(NoVerdict::Unavailable, "services cannot be asked yet")
    }
}
