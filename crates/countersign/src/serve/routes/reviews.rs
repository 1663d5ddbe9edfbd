//! Reviews: the list, one review, its events, and submitting work.

use super::WAIT;
use crate::serve::call::{Call, at};
use crate::serve::parameter::{Kind, Parameter, WHOLE_MAX};
use crate::serve::refusal::Refusal;
use crate::serve::route::{GET, POST, ResponseSpec, Route, schema};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::answer::v1::{Answer, Events, Reviews, State, Stated};
use countersign_app::doors::HTTP;
use countersign_app::find::{self, no_ledger};
use countersign_app::log;
use countersign_app::server_state::until_it_stands;
use countersign_app::show::stated;
use countersign_app::submit::{Submit, SubmittedWork, hand_in};
use countersign_app::{Code, Failure};
use countersign_core::ids::{ReviewId, Subject};
use countersign_engine::engine::Engine;
use countersign_engine::ledger::{Filter, Ledger, Stored};
use serde::Serialize;
use std::time::Duration;

const PAGE: u64 = 50;
const PAGE_MAX: u64 = 200;

const LIMIT: Parameter = Parameter::query(
    "limit",
    Kind::Whole { min: 1, max: PAGE_MAX },
    "The maximum number of reviews; the default is 50.",
);

pub const ROUTES: &[Route] = &[
    Route {
        path: "/v1/reviews",
        name: "list_reviews",
        command: "log",
        summary: "Reviews, newest first",
        description: "A page of reviews. `next_before` is the `before` of the next page; pages do not shift when \
                      reviews are added.",
        parameters: &[
            LIMIT,
            Parameter::query(
                "before",
                Kind::Whole { min: 1, max: WHOLE_MAX },
                "Start after this position: use `next_before` of the previous page.",
            ),
            Parameter::query("open", Kind::Flag, "Only reviews that are not finished."),
            Parameter::query(
                "subject",
                Kind::Text { max_chars: 1000 },
                "Only those of this subject, such as `cli/guides`.",
            ),
        ],
        answers: &[ResponseSpec::answer::<Reviews>(200, "A page.")],
        run: |call| Box::pin(list(call)),
        ..GET
    },
    Route {
        path: "/v1/reviews",
        name: "start_review",
        command: "review",
        summary: "Submit work",
        description: "Submits `files`, a `change`, or without either all files that the rules match, and \
                      answers at once; the review continues in the server. The same work again joins the running review, \
                      and unchanged work is not judged twice. Do not edit the files before the verdict: it is \
                      about exactly these bytes.",
        parameters: &[WAIT],
        body: Some(schema::<Submit>),
        answers: &[
            ResponseSpec::answer::<Stated>(200, "The verdict, as `countersign review --json` gives it."),
            ResponseSpec::answer::<Stated>(202, "The review is running: `Location` is its path."),
        ],
        run: |call| Box::pin(start(call)),
        ..POST
    },
    Route {
        path: "/v1/reviews/{id}",
        name: "show_review",
        command: "show",
        summary: "One review",
        description: "`id` is its id or any beginning of it that no other has, its subject (percent-encoded), or the \
                      name of a task. The object of `countersign show --json`, with `state` beside it.",
        parameters: &[WAIT],
        answers: &[ResponseSpec::answer::<Stated>(
            200,
            "The review. `review.outcome` is null while a round is under way.",
        )],
        run: |call| Box::pin(show(call)),
        ..GET
    },
    Route {
        path: "/v1/reviews/{id}/events",
        name: "review_events",
        command: "log",
        summary: "What happened to a review, in order",
        description: "For what happens from now on see `/v1/events`.",
        parameters: &[
            LIMIT,
            Parameter::query(
                "after",
                Kind::Whole { min: 0, max: WHOLE_MAX },
                "Only those after this number `n`.",
            ),
        ],
        answers: &[ResponseSpec::answer::<Events>(200, "Events.")],
        run: |call| Box::pin(events(call)),
        ..GET
    },
];

async fn list(call: Call) -> Result<Response, Refusal> {
    let project = call.resident.project()?;
    let limit = limit(&call);
    let subject = call.parameters.text("subject").map(Subject::from_text);
    let filter =
        Filter { open_only: call.parameters.flag("open"), before: call.parameters.whole("before"), limit };
    let ledger = call.resident.ledger(&project).await?;
    let page = log::reviews(ledger.as_ref(), subject.as_ref(), filter).await?;
    Ok(call.answer(StatusCode::OK, Answer::passed(page)))
}

fn limit(call: &Call) -> u32 {
    u32::try_from(call.parameters.whole("limit").unwrap_or(PAGE)).unwrap_or(u32::MAX)
}

async fn meant(call: &Call) -> Result<(Ledger, ReviewId), Failure> {
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?.ok_or_else(no_ledger)?;
    let id = find::meant(&project, &ledger, &call.id).await?;
    Ok((ledger, id))
}

async fn show(call: Call) -> Result<Response, Refusal> {
    let (ledger, id) = meant(&call).await?;
    let patience = call.patience();
    let followed =
        until_it_stands(&call.resident, &ledger, &id, patience.unwrap_or(Duration::ZERO), &call.gone).await?;
    let answer = stated(&call.resident.project()?, &ledger, &followed).await?;
    if followed.state != State::Done || patience.is_none() {
        return Ok(call.answer(StatusCode::OK, answer));
    }
    // A verdict is returned also if no reviewer is available any more.
    match call.resident.engine(&call.resident.project()?).await {
        Ok(engine) => Ok(awaited(&call, answer, engine, &followed.stored)),
        Err(_) => Ok(call.answer(StatusCode::OK, answer)),
    }
}

/// The client waited for the answer: once it has it, the same work again is the next attempt.
fn awaited(call: &Call, answer: Answer<impl Serialize>, engine: Engine, stored: &Stored) -> Response {
    let Some(round) = stored.review.round().map(|round| round.n) else {
        return call.answer(StatusCode::OK, answer);
    };
    let id = stored.review.id.clone();
    call.delivered(answer, async move {
        // Without this record the same submission gets the same answer once more, which does no harm.
        if let Err(error) = engine.delivered_round(&id, round).await {
            eprintln!("{}: review {id}: {error}", crate::serve::NAME);
        }
    })
}

async fn start(mut call: Call) -> Result<Response, Refusal> {
    let given: Submit = call.body()?;
    let SubmittedWork { stored, round, warnings, engine, .. } =
        hand_in(&call.resident, given, None, HTTP).await?;
    let (ledger, id) = (engine.ledger(), stored.review.id);
    let patience = call.patience().unwrap_or(Duration::ZERO);
    let followed = until_it_stands(&call.resident, ledger, &id, patience, &call.gone).await?;
    let now = followed.stored.review.round().map(|round| round.n);
    if now != Some(round) {
        // A verdict belongs to its own round only.
        let words = format!(
            "round {round} of review {id} was replaced: newer work was submitted with the same subject"
        );
        return Err(Refusal::new(StatusCode::CONFLICT, Code::Refused, words));
    }
    let answer = stated(&call.resident.project()?, ledger, &followed).await?.warned(warnings);
    let reply = match followed.state {
        State::Done if call.patience().is_some() => awaited(&call, answer, engine.clone(), &followed.stored),
        State::Done => call.answer(StatusCode::OK, answer),
        _ => call.answer(StatusCode::ACCEPTED, answer),
    };
    Ok(at(reply, &format!("/v1/reviews/{id}")))
}

async fn events(call: Call) -> Result<Response, Refusal> {
    let (ledger, id) = meant(&call).await?;
    let after = call.parameters.whole("after").unwrap_or(0);
    let events = log::events(&ledger, &id, after, limit(&call)).await?;
    Ok(call.answer(StatusCode::OK, Answer::passed(events)))
}
