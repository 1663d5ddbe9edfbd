//! What services speak that are asked without a program between.

/// What a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI-compatible chat completions.
    OpenAi,
}
