//! Server-sent events: every event of every process, once, in order.

use crate::serve::call::Call;
use crate::serve::parameter::{Kind, Parameter, ParameterIn, WHOLE_MAX};
use crate::serve::refusal::Refusal;
use crate::serve::route::{GET, ResponseSpec, Route};
use axum::http::StatusCode;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use countersign_app::answer::v1::{Event, Problem};
use countersign_app::feed::{self, Feed};
use countersign_app::{Code, Failure};
use countersign_engine::ledger::Recorded;
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a client waits before it connects again.
const RETRY: Duration = Duration::from_secs(1);
/// How often a silent stream sends a comment.
const BEAT: Duration = Duration::from_secs(15);

pub const ROUTES: &[Route] = &[Route {
    path: "/v1/events",
    name: "events",
    command: "watch",
    summary: "Live events",
    description: "Server-sent events: `id` is the number to resume by, `event` the kind, `data` the object that \
                  `countersign watch --json` prints. Begins with new events, or after the event in `Last-Event-ID` or `after`; if both are given, the header is used. Nothing is lost and nothing comes twice after a \
                  reconnect. Comments keep a silent stream open. An event `failure` says why a stream ends.",
    parameters: &[
        Parameter {
            name: "Last-Event-ID",
            place: ParameterIn::Header,
            kind: Kind::Whole { min: 0, max: WHOLE_MAX },
            words: "The id of the last event that was read.",
        },
        Parameter::query(
            "after",
            Kind::Whole { min: 0, max: WHOLE_MAX },
            "The same, for the first request. 0 begins with the first event there is.",
        ),
    ],
    answers: &[ResponseSpec { status: 200, words: "A stream that ends with the server.", schema: None }],
    run: |call| Box::pin(events(call)),
    ..GET
}];

async fn events(call: Call) -> Result<Response, Refusal> {
    let Ok(slot) = call.streams.clone().try_acquire_owned() else {
        let words = "there are as many event streams as this server can have";
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Code::NotTaken, words);
        return Err(refusal.hint("end one, or use `countersign watch`, which needs no server"));
    };
    let after = call.parameters.whole("Last-Event-ID").or(call.parameters.whole("after"));
    let ledger = call.ledger().await?;
    feed::known(&ledger, after).await?;
    let feed = Feed::after(ledger, after).await.map_err(Failure::from)?;
    // At once, so that a client knows that it is connected.
    let connected = sse::Event::default().retry(RETRY);
    // An event is read from the ledger when the client has room for it.
    let events = stream::unfold(Some(feed), move |feed| {
        // Kept for as long as the stream is there.
        let _slot = &slot;
        next(feed, call.resident.stopping().clone())
    });
    let stream = stream::once(async { Ok(connected) }).chain(events);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(BEAT).text("still here")).into_response())
}

/// The next event, and the feed to go on with; without a feed the stream ends.
async fn next(
    feed: Option<Feed>,
    stopping: CancellationToken,
) -> Option<(Result<sse::Event, Infallible>, Option<Feed>)> {
    let mut feed = feed?;
    let event = tokio::select! {
        () = stopping.cancelled() => return None,
        event = feed.next() => event,
    };
    Some(match event {
        Ok(event) => (Ok(written(&event)), Some(feed)),
        Err(error) => {
            let failure = json!({ "error": Problem::from(&error.into()) });
            (Ok(sse::Event::default().event("failure").data(failure.to_string())), None)
        }
    })
}

/// An event as it is sent. JSON has no line breaks of its own, and kinds are words of ours.
fn written(event: &Recorded) -> sse::Event {
    let data = json!(Event::from(event)).to_string();
    sse::Event::default().id(event.seq.to_string()).event(&event.kind).data(data)
}
