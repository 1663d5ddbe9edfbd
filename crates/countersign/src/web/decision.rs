//! A decision that was sent by the page: the same use case as at the terminal.

use super::errors;
use super::review::{self, Refused};
use super::router::{Visit, see_other};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::decide::{Action, Decide, REASON_BYTES_MAX, decide as record};
use countersign_app::find::{meant, no_ledger};
use countersign_app::{Code, Failure};
use countersign_core::digest::Digest;
use countersign_core::ids::ReviewId;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// Records it and shows the review again. What is refused changes nothing, and leaves the words in the box.
pub async fn decide(visit: &Visit) -> Response {
    match recorded(visit).await {
        Ok(id) => see_other(&format!("/r/{id}")),
        Err(failure) => {
            let status = match failure.code {
                Code::Refused => StatusCode::CONFLICT,
                Code::NotFound => return errors::failed(&failure),
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            let hint = failure.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            let words = format!("Nothing was decided: {failure}{hint}");
            let reason = visit.fields.get("reason").unwrap_or_default().to_owned();
            let refused = Refused { words, reason };
            review::page(visit, status, Some(refused))
                .await
                .unwrap_or_else(|failure| errors::failed(&failure))
        }
    }
}

async fn recorded(visit: &Visit) -> Result<ReviewId, Failure> {
    let field = |name| visit.fields.filled(name);
    let action = field("verb").and_then(|verb| {
        let verb: serde::de::value::StrDeserializer<'_, Error> = verb.into_deserializer();
        Action::deserialize(verb).ok()
    });
    let action = action.ok_or_else(|| Failure::usage("choose what to do"))?;
    let reason = field("reason").map(str::to_owned);
    if reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MAX) {
        return Err(Failure::usage(format!("the reason has more than {REASON_BYTES_MAX} bytes")));
    }
    // Without the digest that the person saw nothing is decided.
    let about: Digest = field("digest")
        .and_then(|digest| serde_json::from_value(digest.into()).ok())
        .ok_or_else(|| Failure::usage("the form has no digest of the work"))?;
    let ledger = visit.ledger.as_ref().ok_or_else(no_ledger)?;
    let id = meant(&visit.project, ledger, &visit.id).await?;
    let engine = visit.web.resident().engine(&visit.project).await?;
    let decision = Decide { action, by: visit.web.person(), reason, about: Some(about) };
    record(&visit.project, &engine, &id, decision).await?;
    Ok(id)
}
