//! `review_submit`: files or a change, by criteria of one's own or the project's rules.

use super::{Call, Reply};
use crate::output::SCHEMA;
use countersign_app::Failure;
use countersign_app::author;
use countersign_app::handing_in::{HandedIn, Submit, Way, hand_in};
use countersign_app::resident::counted;
use countersign_core::outcome::Outcome;
use serde_json::json;

/// Hands in, and lets it be performed in the background.
pub async fn submit(mut call: Call) -> Result<Reply, Failure> {
    let given = call.arguments::<Submit>()?;
    let author = author::of_client(&call.client);
    let HandedIn { stored, round, attached, warnings, .. } =
        hand_in(&call.server, given, author, Way::Mcp).await?;
    let standing = stored.review.standing();
    let (answered, questions) = counted(&stored);
    let review = &stored.review.id;
    Reply::new(&json!({
        "schema": SCHEMA,
        "review": review,
        "subject": stored.review.subject,
        "round": round,
        "attached": attached,
        "state": if standing.is_some() { "done" } else { "running" },
        "outcome": standing.map(Outcome::name),
        "reason": standing.and_then(Outcome::reason),
        "progress": { "answered": answered, "questions": questions },
        "attempts_left": stored.review.policy.attempts_left(stored.review.attempts),
        "warnings": warnings,
        "next": [format!("call review_wait with review {review}")],
    }))
}
