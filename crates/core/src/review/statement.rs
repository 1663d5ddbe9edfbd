//! The text that a person signs: exactly one decision about exactly one state of a review.

use super::Review;

/// The statement of a decision about the current work of a review; none where nothing was submitted.
///
/// Round and attempt are in it, so that a signature holds once: after an unblock, or another round, it is another text.
pub fn statement(review: &Review, action: &str, reason: &str) -> Option<String> {
    let round = review.round()?;
    // As JSON text the reason is one line, whatever it says.
    let reason = serde_json::Value::from(reason);
    Some(format!(
        "countersign decision 1\nreview: {}\nsubject: {}\nround: {}\nattempt: {}\ndigest: {}\naction: {action}\nreason: {reason}\n",
        review.id, review.subject, round.n, review.attempts, round.submission.digest
    ))
}
