//! What Countersign does: the loop, and the rooms it works in.
//!
//! The rooms (`workspace`, `reviewer`, …) do not call each other; the engine calls them. What decides
//! anything is in `countersign_core`.

pub mod reviewer;
pub mod workspace;
