//! The hooks of agent programs: called when an agent is about to stop, and able to hold it.
//!
//! Pure: what a program writes → what is meant; how a review stands → what the program is told. How often an agent is held
//! is counted by the law of reviews and by nobody here.

pub mod answer;
pub mod input;
pub mod words;

/// The first part of its subjects.
pub const DOOR: &str = "hook";
