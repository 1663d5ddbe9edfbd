//! One request at work, and what it gives.

use super::body::Afterwards;
use super::parameter::Parameters;
use super::refusal::Refusal;
use super::route::Route;
use crate::output::Answer;
use countersign_app::Failure;
use countersign_app::answer::v1;
use countersign_app::given;
use countersign_app::resident::Resident;
use countersign_engine::ledger::Ledger;
use hyper::StatusCode;
use hyper::body::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// One request.
pub struct Call {
    /// What all requests share.
    pub resident: Resident,
    /// Its route.
    pub route: &'static Route,
    /// What stands behind the `?`, and in headers that the route takes.
    pub parameters: Parameters,
    /// Ends when the client hangs up, or the server stops.
    pub gone: CancellationToken,
    pub(super) parts: Vec<String>,
    pub(super) body: Option<Value>,
}

impl Call {
    /// What stands for the part in braces.
    pub fn id(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    /// The body, as the route needs it.
    pub fn body<T: DeserializeOwned>(&mut self) -> Result<T, Refusal> {
        let body = self.body.take().unwrap_or_default();
        given::read(body).map_err(|failure| Refusal { status: StatusCode::BAD_REQUEST, failure })
    }

    /// How long the client wants to wait.
    pub fn patience(&self) -> Option<Duration> {
        self.parameters.whole("wait").filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// The ledger to write to: the first who needs it makes it.
    pub async fn ledger(&self) -> Result<Ledger, Failure> {
        self.resident.ledger_to_write(&self.resident.project()?).await
    }

    /// The answer of a use case, as that of the route's command.
    pub fn answer(&self, status: StatusCode, answer: v1::Answer<impl Serialize>) -> Reply {
        Reply::json(status, json!(answer.of(self.route.command)))
    }

    /// The object of the route's command.
    pub fn reply(&self, status: StatusCode, answer: &Answer) -> Reply {
        Reply::json(status, answer.envelope(self.route.command))
    }

    /// The same where nobody knows yet how it ends.
    pub fn pending(&self, warnings: &[String], own: &Map<String, Value>) -> Reply {
        let answer =
            Answer { warnings: warnings.to_vec(), ..Answer::pending("", Value::Object(own.clone())) };
        self.reply(StatusCode::ACCEPTED, &answer)
    }
}

/// What a request gets.
pub struct Reply {
    pub status: StatusCode,
    pub content: Content,
    /// Where what was made can be found.
    pub location: Option<String>,
    /// Runs once the answer was given to a client that was still there.
    pub afterwards: Option<Afterwards>,
}

/// What an answer holds.
pub enum Content {
    Json(Value),
    /// Events as they happen.
    Events(mpsc::Receiver<Bytes>),
}

impl Reply {
    pub fn json(status: StatusCode, json: Value) -> Self {
        Self { status, content: Content::Json(json), location: None, afterwards: None }
    }

    pub fn events(events: mpsc::Receiver<Bytes>) -> Self {
        let content = Content::Events(events);
        Self { status: StatusCode::OK, content, location: None, afterwards: None }
    }

    /// The same, saying where what was made can be found.
    pub fn at(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }

    /// The same, with what is to be done once it was given.
    pub fn delivered(self, afterwards: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { afterwards: Some(Box::pin(afterwards)), ..self }
    }
}
