//! What people decide about reviews. Whoever has the token is the person who runs the server.

use crate::author::user_name;
use crate::cli::{Decided, Deed, meant_review, no_ledger, take_decision};
use crate::given::at_most;
use crate::serve::call::{Call, Reply};
use crate::serve::refusal::Refusal;
use crate::serve::route::{Content, Given, Route, Running};
use crate::serve::shapes;
use countersign_core::digest::Digest;
use countersign_core::review::{Actor, Verb};
use hyper::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;

const REASON_MAX: usize = 4 * 1024;

/// The table.
pub const ROUTES: &[Route] = &[Route {
    method: Method::POST,
    path: "/v1/reviews/{id}/decision",
    name: "decide",
    command: "decide",
    summary: "Decide about a review",
    description: "As `countersign approve`, `reject`, `skip`, `fix`, `unblock` and `withdraw` do, by the person who runs \
                  the server. `digest` is `review.digest` of the review as it was looked at: where other work was \
                  handed in since, or somebody else was quicker, nothing is decided (409).",
    open: false,
    parameters: &[],
    body: Some(shapes::body::<Decision>),
    answers: &[Given {
        status: 200,
        words: "It is decided: the review as it stands now.",
        content: Content::Json(shapes::answer::<shapes::Decided>),
    }],
    run: |call| -> Running { Box::pin(decide(call)) },
}];

/// A decision.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// What to do.
    verb: Decides,
    /// The digest of the work it is about, as `review.digest` names it.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    digest: String,
    /// Why. It is kept with the decision; `withdraw` needs none.
    #[schemars(length(min = 1, max = REASON_MAX))]
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Verb")]
enum Decides {
    /// Let it pass, whatever the verdict.
    Approve,
    /// Stop it for good.
    Reject,
    /// Let it pass without a review.
    Skip,
    /// Send it back, with what was found.
    Fix,
    /// Let a stopped review go on.
    Unblock,
    /// Take back what was handed in.
    Withdraw,
}

impl Decides {
    fn deed(self) -> Deed {
        match self {
            Self::Approve => Deed::Decide(Verb::Approve),
            Self::Reject => Deed::Decide(Verb::Reject),
            Self::Skip => Deed::Decide(Verb::Skip),
            Self::Fix => Deed::Decide(Verb::Fix),
            Self::Unblock => Deed::Unblock,
            Self::Withdraw => Deed::Withdraw,
        }
    }
}

async fn decide(mut call: Call) -> Result<Reply, Refusal> {
    let Decision { verb, digest, reason } = call.body()?;
    at_most("reason", reason.as_ref().map_or(0, String::len), REASON_MAX, "bytes")?;
    let about = digest_of(digest)?;
    let project = call.resident.project()?;
    let ledger = call.resident.ledger(&project).await?.ok_or_else(no_ledger)?;
    let id = meant_review(&project, &ledger, call.id()).await?;
    let engine = call.resident.engine(&project).await?;
    let by = Actor::new(user_name(), true);
    let decided = Decided { deed: verb.deed(), by, reason, about: Some(about) };
    Ok(call.reply(StatusCode::OK, &take_decision(&project, &engine, &id, decided).await?))
}

fn digest_of(text: String) -> Result<Digest, Refusal> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let digest = is_digest.then(|| serde_json::from_value(text.into()).ok()).flatten();
    digest.ok_or_else(|| Refusal::malformed("`digest` is not the 64 hex digits of `review.digest`"))
}
