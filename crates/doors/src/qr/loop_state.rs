//! Where a phase is in its loop. It follows from the state and is stored nowhere.

use super::state::State;
use super::transition::gate;
use countersign_core::policy::{GateEnd, GatePolicy};

/// The states of the loop, as the document names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// The first round, without a blocking failure.
    Initial,
    /// A fix is under way, or was made.
    Retry,
    Complete,
}

impl LoopState {
    pub fn of(state: &State, policy: &GatePolicy) -> Self {
        let gated = gate(state, policy);
        match gated.end {
            GateEnd::Pass => Self::Complete,
            _ if state.iteration == 1 && gated.failed.is_empty() => Self::Initial,
            _ => Self::Retry,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "INITIAL",
            Self::Retry => "RETRY",
            Self::Complete => "COMPLETE",
        }
    }
}
