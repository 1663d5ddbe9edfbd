//! The `qwen` program: its agents are known by their marks. It is not asked and not put to work.

use super::{Mark, Program};

pub static PROGRAM: Program = Program::marks_only("qwen", &[Mark::new("QWEN_CODE")]);
