//! Where a phase is in its loop: worked out whenever somebody asks, stored nowhere.

use super::state::State;
use super::transition::gate;
use countersign_core::policy::{GateEnd, GatePolicy};
use std::fmt;

/// The states of the document's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// The first look, and nothing that blocks has failed.
    Initial,
    /// Something is being fixed, or was.
    Retry,
    /// The gate is passed.
    Complete,
}

impl LoopState {
    /// Where this phase is.
    pub fn of(state: &State, policy: &GatePolicy) -> Self {
        let gated = gate(state, policy);
        match gated.end {
            GateEnd::Pass => Self::Complete,
            _ if state.iteration == 1 && gated.failed.is_empty() => Self::Initial,
            _ => Self::Retry,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "INITIAL",
            Self::Retry => "RETRY",
            Self::Complete => "COMPLETE",
        }
    }
}

impl fmt::Display for LoopState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
