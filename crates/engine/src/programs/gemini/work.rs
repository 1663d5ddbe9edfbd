//! The program in its working form. It writes one report at its end, so there is nothing to watch.

use crate::programs::{ModelArgument, Working};

/// What is particular about it at work.
pub(super) const WORKING: Working = Working {
    args: &["--output-format", "json", "--approval-mode", "yolo"],
    model: ModelArgument::Next("-m"),
    last: &[],
    own: &["-p"],
    // It would otherwise not begin without a person, and would run below another one of itself.
    set: &[("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_CLI_NO_RELAUNCH", "true")],
    hear: super::parse_output::parse_output,
    live: |_| None,
};
