//! One request at work, and the answers it can get.

use super::parameter::Parameters;
use super::refusal::Refusal;
use super::route::Route;
use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_app::Failure;
use countersign_app::answer::v1;
use countersign_app::arguments;
use countersign_app::server_state::ServerState;
use countersign_core::review::Actor;
use countersign_engine::ledger::Ledger;
use futures_util::stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

pub struct Call {
    pub resident: ServerState,
    pub route: &'static Route,
    /// The values of the query, and of headers that the route takes.
    pub parameters: Parameters,
    /// Ends when the client hangs up, or the server stops.
    pub gone: CancellationToken,
    /// The value of `{id}` in the path.
    pub id: String,
    pub(super) body: Option<Value>,
    /// Who sends it, and why that is no person, where it is none.
    pub by: (Actor, Option<String>),
    /// The slots of event streams.
    pub streams: Arc<Semaphore>,
}

impl Call {
    pub fn body<T: DeserializeOwned>(&mut self) -> Result<T, Refusal> {
        let body = self.body.take().unwrap_or_default();
        arguments::read(body).map_err(|failure| Refusal { status: StatusCode::BAD_REQUEST, failure })
    }

    pub fn patience(&self) -> Option<Duration> {
        self.parameters.whole("wait").filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// The ledger to write to; the first request that needs it creates it.
    pub async fn ledger(&self) -> Result<Ledger, Failure> {
        self.resident.ledger_to_write(&self.resident.project()?).await
    }

    /// The answer of a use case, as that of the route's command.
    pub fn answer(&self, status: StatusCode, answer: v1::Answer<impl Serialize>) -> Response {
        json(status, &json!(answer.of(self.route.command)))
    }

    /// The same, with a future to run once the client has the answer.
    pub fn delivered(
        &self,
        answer: v1::Answer<impl Serialize>,
        afterwards: impl Future<Output = ()> + Send + 'static,
    ) -> Response {
        let text = Bytes::from(line(&json!(answer.of(self.route.command))));
        let (taken, was_taken) = oneshot::channel();
        self.resident.spawn(async move {
            if was_taken.await.is_ok() {
                afterwards.await;
            }
        });
        let length = HeaderValue::from(text.len());
        let body = Body::from_stream(stream::once(async move {
            // When the server stops there is no receiver.
            let _ = taken.send(());
            Ok::<_, Infallible>(text)
        }));
        let mut response = with_type(StatusCode::OK, "application/json", body);
        response.headers_mut().insert(CONTENT_LENGTH, length);
        response
    }
}

pub fn json(status: StatusCode, json: &Value) -> Response {
    with_type(status, "application/json", line(json))
}

/// The same answer, with the path of the new resource.
pub fn at(mut response: Response, path: &str) -> Response {
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

fn line(json: &Value) -> String {
    format!("{json}\n")
}

fn with_type(status: StatusCode, kind: &'static str, body: impl IntoResponse) -> Response {
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (status, headers, body).into_response()
}
