//! The reviewer CLI: whoever turns a question into structured output.

use countersign_core::text;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// Longer error messages are cut, with a note: they come from a program.
const MAX_MESSAGE_BYTES: usize = 2 * 1024;

/// One question, with everything it is made of.
#[derive(Clone, Copy, Debug)]
pub struct CliQuestion<'a> {
    /// The reviewer's role, the criteria, the author's notes and the guidance.
    pub system_prompt: &'a str,
    /// The outputs, with contents or by path.
    pub payload: &'a str,
    /// The shape the reply must have.
    pub schema: &'a Value,
    /// How long the answer may take. The gate stops waiting then, time spent in a queue of the CLI included.
    pub timeout: Duration,
}

/// What [`ReviewerCli::ask`] gives back: structured output some time later.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Value, CliError>> + Send + 'a>>;

/// A reviewer CLI: gets a system prompt, a payload and a schema; gives structured output.
///
/// All evaluations of a step are asked at once, so an implementation must bear that. The gate drops the future
/// when the time is up or its caller gives up: what was started for it must end with it.
pub trait ReviewerCli: Send + Sync {
    /// Asks.
    fn ask<'a>(&'a self, question: CliQuestion<'a>) -> Asked<'a>;
}

/// Why the CLI gave no structured output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CliError(String);

impl CliError {
    /// An error in words. They may hold what a program printed, so they are made harmless to show.
    pub fn new(message: impl AsRef<str>) -> Self {
        Self(text::cut_noted(&text::visible(message.as_ref()), MAX_MESSAGE_BYTES).into_owned())
    }
}
