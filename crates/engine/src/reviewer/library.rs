//! A reviewer in the caller's own process: the program that uses the gate as a library answers the questions itself.

use super::brief::{Brief, ReviewerReply};
use crate::programs::ReplyBody;
use countersign_core::outcome::NoVerdict;
use countersign_core::text;
use serde_json::Value;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

/// Longer error messages are cut, with a note: they come from a program.
const MAX_MESSAGE_BYTES: usize = 2 * 1024;

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

/// A reviewer CLI: gets a system prompt, a payload and a schema; gives structured output. It is asked about all evaluations
/// of a step at once. The gate drops the future on a timeout or a cancel: what was started for it must end with it.
pub trait ReviewerCli: Send + Sync {
    fn ask<'a>(&'a self, question: CliQuestion<'a>) -> Asked<'a>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CliError(pub(crate) String);

impl CliError {
    /// An error in words. They may hold what a program printed, so they are made harmless to show.
    pub fn new(message: impl AsRef<str>) -> Self {
        Self(text::cut_noted(&text::visible(message.as_ref()), MAX_MESSAGE_BYTES).into_owned())
    }
}

/// A question that is under way; none when it has ended.
type UnderWay = Mutex<Option<Asked<'static>>>;

/// A reviewer CLI on a panel.
#[derive(Clone)]
pub struct Library {
    cli: Arc<dyn ReviewerCli>,
    under_way: Arc<Mutex<Vec<Weak<UnderWay>>>>,
}

/// Ends every question of a [`Library`] at once when it is dropped; aborted tasks would end only later.
pub struct EndsWith(Arc<Mutex<Vec<Weak<UnderWay>>>>);

impl Library {
    /// A panel member that asks this CLI.
    pub fn new(cli: Arc<dyn ReviewerCli>) -> Self {
        Self { cli, under_way: Arc::default() }
    }

    /// Lets questions end with what is returned.
    pub fn ends_with(&self) -> EndsWith {
        EndsWith(Arc::clone(&self.under_way))
    }

    /// What the CLI says. It is told its time and may keep it; the gate does not depend on that.
    pub async fn ask_raw(&self, brief: &Brief) -> ReviewerReply<ReplyBody> {
        match tokio::time::timeout(brief.timeout, self.put(brief)).await {
            Ok(Ok(value)) => {
                let reply = Some(value.to_string());
                ReviewerReply { result: Ok(ReplyBody::Structured(value)), reply, usage: None }
            }
            Ok(Err(error)) => ReviewerReply::failed(NoVerdict::Unavailable, error.to_string()),
            Err(_) => {
                let seconds = brief.timeout.as_secs();
                ReviewerReply::failed(NoVerdict::Timeout, format!("no answer within {seconds} seconds"))
            }
        }
    }

    fn put(&self, brief: &Brief) -> impl Future<Output = Result<Value, CliError>> + use<> {
        let (cli, schema, timeout) = (Arc::clone(&self.cli), brief.shape().schema(), brief.timeout);
        let (system_prompt, payload) = (brief.system_prompt.clone(), brief.payload.clone());
        let asked: Asked<'static> = Box::pin(async move {
            let (system_prompt, payload) = (system_prompt.as_str(), payload.as_str());
            cli.ask(CliQuestion { system_prompt, payload, schema: &schema, timeout }).await
        });
        let question = Arc::new(Mutex::new(Some(asked)));
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&question));
        poll_fn(move |context| match &mut *question.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(asked) => asked.as_mut().poll(context),
            None => Poll::Ready(Err(CliError::new("its caller did not wait for the answer"))),
        })
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

impl Drop for EndsWith {
    fn drop(&mut self) {
        let questions = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for question in questions.iter().filter_map(Weak::upgrade) {
            question.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}
