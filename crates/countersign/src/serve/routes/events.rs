//! Everything that happens, as server-sent events: every event of every process, once, in order.

use crate::serve::call::{Call, Reply};
use crate::serve::parameter::{Kind, Parameter, Place, WHOLE_MAX};
use crate::serve::refusal::Refusal;
use crate::serve::route::{Content, Given, Route, Running};
use countersign_app::Failure;
use countersign_app::answer::v1::{Event, Problem};
use countersign_app::feed::{self, Feed};
use countersign_engine::ledger::Recorded;
use hyper::Method;
use hyper::body::Bytes;
use serde_json::json;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many events wait for a reader that is slow; further ones stay in the ledger.
const WAITING_MAX: usize = 8;
/// How often a silent stream says that it is there.
const BEAT: Duration = Duration::from_secs(15);

/// The table.
pub const ROUTES: &[Route] = &[Route {
    method: Method::GET,
    path: "/v1/events",
    name: "events",
    command: "watch",
    summary: "What happens, live",
    description: "Server-sent events: `id` is the number to resume by, `event` the kind, `data` the object that \
                  `countersign watch --json` prints. Begins with what happens from now on, or after `Last-Event-ID` or \
                  `after`; the header holds where both are given. Nothing is lost and nothing comes twice, whoever \
                  reconnects. Comments keep a silent stream open. An event `failure` says why a stream ends.",
    open: false,
    parameters: &[
        Parameter {
            name: "Last-Event-ID",
            place: Place::Header,
            kind: Kind::Whole { min: 0, max: WHOLE_MAX },
            words: "The id of the last event that was read.",
        },
        Parameter {
            name: "after",
            place: Place::Query,
            kind: Kind::Whole { min: 0, max: WHOLE_MAX },
            words: "The same, for the first request. 0 begins with the first event there is.",
        },
    ],
    body: None,
    answers: &[Given { status: 200, words: "A stream that ends with the server.", content: Content::Events }],
    run: |call| -> Running { Box::pin(events(call)) },
}];

async fn events(call: Call) -> Result<Reply, Refusal> {
    let after = call.parameters.whole("Last-Event-ID").or(call.parameters.whole("after"));
    let ledger = call.ledger().await?;
    feed::known(&ledger, after).await?;
    let feed = Feed::after(ledger, after).await.map_err(Failure::from)?;
    let (pieces, read) = mpsc::channel(WAITING_MAX);
    let stopping = call.resident.stopping().clone();
    call.resident.spawn(async move { stream(feed, &pieces, &stopping).await });
    Ok(Reply::events(read))
}

/// Sends events for as long as somebody reads them. Only what a reader has room for is read from the ledger.
async fn stream(mut feed: Feed, pieces: &mpsc::Sender<Bytes>, stopping: &CancellationToken) {
    // At once, so that a client knows that it is connected.
    let mut piece = Bytes::from_static(b"retry: 1000\n\n");
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            sent = pieces.send(piece) => if sent.is_err() { return },
        }
        piece = tokio::select! {
            () = stopping.cancelled() => return,
            () = pieces.closed() => return,
            event = feed.next() => match event {
                Ok(event) => written(&event),
                Err(error) => {
                    let failure = json!({ "error": Problem::from(&error.into()) });
                    let _ = pieces.send(Bytes::from(format!("event: failure\ndata: {failure}\n\n"))).await;
                    return;
                }
            },
            () = tokio::time::sleep(BEAT) => Bytes::from_static(b": still here\n\n"),
        };
    }
}

/// An event as it is sent. JSON has no line breaks of its own, and kinds are words of ours.
fn written(event: &Recorded) -> Bytes {
    Bytes::from(format!("id: {}\nevent: {}\ndata: {}\n\n", event.seq, event.kind, json!(Event::from(event))))
}
