//! A refused request: a failure like those of every command, and its HTTP status.

use super::route::Route;
use axum::http::StatusCode;
use countersign_app::answer::v1::Failed;
use countersign_app::{Code, Failure};
use countersign_core::outcome::Outcome;
use serde_json::{Value, json};

/// Every status of a refusal, and when it comes.
pub const STATUSES: &[(u16, &str)] = &[
    (400, "The request is malformed: a parameter, the body, or the `Host` header."),
    (401, "The token is missing or wrong."),
    (403, "`Host`, `Origin` or the target is not this server, or a decision has no token of a person."),
    (404, "Not found."),
    (405, "The path takes other methods; `Allow` names them."),
    (408, "The body took too long."),
    (409, "Conflict: the work has changed, the review is over, or the id is taken."),
    (413, "The body is too large."),
    (415, "The body is not `application/json`."),
    (422, "The request is valid, but this project cannot do it now."),
    (500, "An internal error, or an error of the disk."),
    (503, "The server is stopping, or has as many event streams as it can have."),
];

#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub failure: Failure,
}

impl Refusal {
    pub fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        Self { status, failure: Failure { code, ..Failure::usage(message) } }
    }

    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::Arguments, message)
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { failure: self.failure.hint(hint), ..self }
    }

    pub fn json(&self, route: Option<&Route>) -> Value {
        let Failure { code, hint, .. } = &self.failure;
        let mut failed = Failed::of(route.map_or("", |route| route.command), &self.failure);
        if *code == Code::Arguments || hint.is_none() && self.status == StatusCode::BAD_REQUEST {
            let hint = "/openapi.json describes every request; nothing was changed";
            failed.error.first.hint = Some(hint.to_owned());
        }
        json!(failed)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { status: status(&failure), failure }
    }
}

fn status(failure: &Failure) -> StatusCode {
    match (failure.code, failure.outcome) {
        (Code::NotFound, _) => StatusCode::NOT_FOUND,
        (
            Code::Refused | Code::CoolingOff | Code::Blocked | Code::Taken | Code::Ambiguous | Code::NoEvent,
            _,
        ) => StatusCode::CONFLICT,
        (_, Outcome::Interrupted) => StatusCode::SERVICE_UNAVAILABLE,
        (_, Outcome::Internal | Outcome::Integrity) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}
