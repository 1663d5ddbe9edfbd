//! Decisions about reviews. A client with the token of a person acts for the person who started the server.

use crate::serve::call::Call;
use crate::serve::refusal::Refusal;
use crate::serve::route::{POST, ResponseSpec, Route, schema};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Code;
use countersign_app::answer::v1::Verdict;
use countersign_app::arguments::at_most;
use countersign_app::decide::{self, Action, Decide, REASON_BYTES_MAX};
use countersign_app::find::{meant, no_ledger};
use countersign_app::show::shown;
use countersign_core::digest::Digest;
use schemars::JsonSchema;
use serde::Deserialize;

pub const ROUTES: &[Route] = &[Route {
    path: "/v1/reviews/{id}/decision",
    name: "decide",
    command: "decide",
    summary: "Decide about a review",
    description: "As `countersign approve`, `reject`, `skip`, `fix`, `unblock` and `withdraw` do, by the person who started \
                  the server, with the token that was shown at the terminal; with another token the answer is 403. `digest` is `review.digest` of the review that the person saw: if newer work was submitted or another decision was made first, nothing is recorded (409).",
    body: Some(schema::<Decision>),
    answers: &[ResponseSpec::answer::<Verdict>(200, "The decision is recorded: the review as it is now.")],
    run: |call| Box::pin(decide(call)),
    ..POST
}];

/// A decision.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// What to do.
    verb: Action,
    /// The digest of the work it is about, as `review.digest` names it.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    digest: String,
    /// Why. It is kept with the decision; `withdraw` needs none.
    #[schemars(length(min = 1, max = REASON_BYTES_MAX))]
    reason: Option<String>,
}

async fn decide(mut call: Call) -> Result<Response, Refusal> {
    let Decision { verb, digest, reason } = call.body()?;
    at_most("reason", reason.as_ref().map_or(0, String::len), REASON_BYTES_MAX, "bytes")?;
    let about = digest_of(digest)?;
    let by = match call.by.clone() {
        // Taking back what did not fail yet is for every client.
        (by, _) if by.may_decide() || verb == Action::Withdraw => by,
        (_, why) => {
            let words = "deciding needs the token of a person; nothing was changed";
            let refusal = Refusal::new(StatusCode::FORBIDDEN, Code::PeopleOnly, words);
            return Err(refusal.hint(why.unwrap_or_default()));
        }
    };
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?.ok_or_else(no_ledger)?;
    let id = meant(&project, &ledger, &call.id).await?;
    let engine = call.resident.engine(&project).await?;
    let decide = Decide { action: verb, by, reason, about: Some(about) };
    let stored = decide::decide(&project, &engine, &id, decide).await?;
    Ok(call.answer(StatusCode::OK, shown(&project, engine.ledger(), &stored).await?.done()))
}

fn digest_of(text: String) -> Result<Digest, Refusal> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let digest = is_digest.then(|| serde_json::from_value(text.into()).ok()).flatten();
    digest.ok_or_else(|| Refusal::malformed("`digest` is not the 64 hex digits of `review.digest`"))
}
