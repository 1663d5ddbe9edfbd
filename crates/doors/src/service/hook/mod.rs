//! The hooks of agent programs: called when an agent is about to stop, and able to hold it.
//!
//! Pure: what a program writes → what is meant; how a review stands → what the program is told. How often an agent is held
//! is counted by the law of reviews and by nobody here.

pub mod answer;
pub mod input;
pub mod words;

use countersign_core::policy::Policy;

/// The first part of its subjects.
pub const DOOR: &str = "hook";

/// The policy of reviews on sessions: an agent that was told what to fix and comes back with the same files will not fix
/// it.
pub fn of_sessions(policy: &mut Policy) {
    policy.unchanged_stops = true;
}
