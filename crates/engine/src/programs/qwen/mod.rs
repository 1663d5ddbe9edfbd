//! The `qwen` program: its agents are known by their marks. It is not asked and not put to work.

use super::{Mark, Program};

/// Its row.
pub static PROGRAM: Program = Program {
    name: "qwen",
    vendor: None,
    marks: &[Mark::new("QWEN_CODE")],
    gate_files: &[],
    reviewer: None,
    server: None,
    hook: None,
};
