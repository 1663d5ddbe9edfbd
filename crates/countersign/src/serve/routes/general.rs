//! The health of the server, its description, and the status of the project.

use crate::serve::call::{Call, json};
use crate::serve::openapi;
use crate::serve::refusal::Refusal;
use crate::serve::route::{GET, ResponseSpec, Route, schema};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::answer::v1::{Answer, Health, Status};
use countersign_app::status::look;
use serde_json::{Map, Value};

pub const ROUTES: &[Route] = &[
    Route {
        path: "/v1/health",
        name: "health",
        command: "health",
        summary: "Whether the server runs",
        description: "Returns the version and nothing about the project. Needs no token.",
        open: true,
        answers: &[ResponseSpec::answer::<Health>(200, "The server runs.")],
        run: |call| Box::pin(health(call)),
        ..GET
    },
    Route {
        path: "/openapi.json",
        name: "openapi",
        command: "openapi",
        summary: "This description",
        description: "Needs no token.",
        open: true,
        answers: &[ResponseSpec {
            status: 200,
            words: "The description.",
            schema: Some(schema::<Map<String, Value>>),
        }],
        run: |call| Box::pin(description(call)),
        ..GET
    },
    Route {
        path: "/v1/status",
        name: "status",
        command: "status",
        summary: "Open reviews, and how reviews ended",
        description: "The object of `countersign status --json`.",
        answers: &[ResponseSpec::answer::<Status>(200, "The status of the project.")],
        run: |call| Box::pin(status(call)),
        ..GET
    },
];

async fn health(call: Call) -> Result<Response, Refusal> {
    Ok(call.answer(StatusCode::OK, Answer::passed(Health { version: env!("CARGO_PKG_VERSION") })))
}

async fn description(_: Call) -> Result<Response, Refusal> {
    Ok(json(StatusCode::OK, &openapi::description()))
}

async fn status(call: Call) -> Result<Response, Refusal> {
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?;
    Ok(call.answer(StatusCode::OK, look(&project, ledger.as_ref(), true).await?))
}
