//! The `qwen` program: its agents are known by their marks and files. It is not asked and not put to work.

use super::{Mark, Program};

pub static PROGRAM: Program =
    Program::known("qwen", &[Mark::new("QWEN_CODE")], &["@qwen-code/qwen-code"], &[".qwen/"]);
