//! `review_submit`: files or a change, by criteria of one's own or the project's rules.

use super::{Call, Reply};
use countersign_app::Failure;
use countersign_app::answer::v1::{OutcomeName, State, Submitted, Version};
use countersign_app::author;
use countersign_app::handing_in::{HandedIn, Submit, Way, hand_in};
use countersign_core::outcome::Outcome;

/// Hands in, and lets it be performed in the background.
pub async fn submit(mut call: Call) -> Result<Reply, Failure> {
    let given = call.arguments::<Submit>()?;
    let author = author::of_client(&call.client);
    let HandedIn { stored, round, attached, warnings, .. } =
        hand_in(&call.server, given, author, Way::Mcp).await?;
    let standing = stored.review.standing();
    let review = stored.review.id.clone();
    Reply::new(&Submitted {
        schema: Version::One,
        subject: stored.review.subject.clone(),
        round,
        attached,
        state: if standing.is_some() { State::Done } else { State::Running },
        outcome: standing.map(OutcomeName),
        reason: standing.and_then(Outcome::reason),
        progress: (&stored).into(),
        attempts_left: stored.review.policy.attempts_left(stored.review.attempts),
        warnings,
        next: vec![format!("call review_wait with review {review}")],
        review,
    })
}
