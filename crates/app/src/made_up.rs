//! The program that does not exist, for tests of what goes through the table of programs.

use countersign_engine::programs::*;

#[path = "../../engine/src/programs/made_up/mod.rs"]
pub mod program;

/// The table with one row more.
pub const WITH_MADE_UP: Programs = Programs(&[&claude::PROGRAM, &program::PROGRAM]);
