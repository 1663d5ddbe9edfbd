//! Whether the server is there, what it can do, and how the project stands.

use crate::serve::call::{Call, Reply};
use crate::serve::openapi;
use crate::serve::refusal::Refusal;
use crate::serve::route::{Content, Given, Route, Running, answer, body};
use countersign_app::answer::v1::{Answer, Health, Status};
use countersign_app::status::look;
use hyper::{Method, StatusCode};
use serde_json::{Map, Value};

/// The table.
pub const ROUTES: &[Route] = &[
    Route {
        method: Method::GET,
        path: "/v1/health",
        name: "health",
        command: "health",
        summary: "Whether the server is there",
        description: "Says the version and nothing about the project. Needs no token.",
        open: true,
        parameters: &[],
        body: None,
        answers: &[Given { status: 200, words: "It is.", content: Content::Json(answer::<Health>) }],
        run: |call| -> Running { Box::pin(health(call)) },
    },
    Route {
        method: Method::GET,
        path: "/openapi.json",
        name: "openapi",
        command: "openapi",
        summary: "This description",
        description: "Needs no token.",
        open: true,
        parameters: &[],
        body: None,
        answers: &[Given {
            status: 200,
            words: "The description.",
            content: Content::Json(body::<Map<String, Value>>),
        }],
        run: |call| -> Running { Box::pin(description(call)) },
    },
    Route {
        method: Method::GET,
        path: "/v1/status",
        name: "status",
        command: "status",
        summary: "What is open, and how reviews have ended",
        description: "The object of `countersign status --json`.",
        open: false,
        parameters: &[],
        body: None,
        answers: &[Given {
            status: 200,
            words: "How the project stands.",
            content: Content::Json(answer::<Status>),
        }],
        run: |call| -> Running { Box::pin(status(call)) },
    },
];

async fn health(call: Call) -> Result<Reply, Refusal> {
    Ok(call.answer(StatusCode::OK, Answer::passed(Health { version: env!("CARGO_PKG_VERSION") })))
}

async fn description(_: Call) -> Result<Reply, Refusal> {
    Ok(Reply::json(StatusCode::OK, openapi::description()))
}

async fn status(call: Call) -> Result<Reply, Refusal> {
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?;
    Ok(call.answer(StatusCode::OK, look(&project, ledger.as_ref(), true).await?))
}
