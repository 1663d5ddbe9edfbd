//! The hooks of agent programs, which are called when an agent is about to stop and can hold it: `input` parses,
//! `answer` makes the output, `words` has the texts. They perform no review and count no attempts.

pub mod answer;
pub mod input;
pub mod messages;

use countersign_core::policy::Policy;

/// The first part of its subjects.
pub const DOOR: &str = "hook";

/// Sets the policy of session reviews: an agent that stops again with the same files will not fix the findings.
pub fn of_sessions(policy: &mut Policy) {
    policy.unchanged_stops = true;
}
