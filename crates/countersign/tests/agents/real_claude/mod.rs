//! The Claude reviewer with the real program.

mod ends;
mod held;
mod sizes;
mod verdicts;
