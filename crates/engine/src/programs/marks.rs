//! The marks of agent programs: variables that each sets for whatever its agent starts. Measured in the shells of the
//! real programs.

use super::Vendor;
use std::ffi::OsStr;

/// A variable by which an agent program is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub name: &'static str,
    /// The one value that counts, where others use the name too.
    value: Option<&'static str>,
    /// The program that sets it.
    pub program: &'static str,
    /// Whose model is at work then, where that is known.
    pub vendor: Option<Vendor>,
}

impl Mark {
    /// Whether a variable is this mark.
    pub fn is(&self, name: &OsStr, value: &OsStr) -> bool {
        name == self.name && self.value.is_none_or(|only| value == only)
    }
}

const fn mark(program: &'static str, vendor: Option<Vendor>, name: &'static str) -> Mark {
    Mark { name, value: None, program, vendor }
}

const ANTHROPIC: Option<Vendor> = Some(Vendor::Anthropic);
const OPENAI: Option<Vendor> = Some(Vendor::OpenAi);
const GOOGLE: Option<Vendor> = Some(Vendor::Google);

/// Every mark there is.
pub const MARKS: &[Mark] = &[
    mark("claude", ANTHROPIC, "CLAUDECODE"),
    mark("claude", ANTHROPIC, "CLAUDE_CODE_CHILD_SESSION"),
    mark("claude", ANTHROPIC, "CLAUDE_CODE_ENTRYPOINT"),
    mark("claude", ANTHROPIC, "CLAUDE_CODE_SESSION_ID"),
    mark("codex", OPENAI, "CODEX_THREAD_ID"),
    mark("codex", OPENAI, "CODEX_SESSION_ID"),
    mark("codex", OPENAI, "CODEX_CI"),
    mark("codex", OPENAI, "CODEX_TOOL_CALL_ID"),
    mark("codex", OPENAI, "CODEX_SANDBOX"),
    mark("codex", OPENAI, "CODEX_SANDBOX_NETWORK_DISABLED"),
    mark("gemini", GOOGLE, "GEMINI_CLI"),
    mark("qwen", None, "QWEN_CODE"),
    mark("opencode", None, "OPENCODE"),
    mark("opencode", None, "OPENCODE_PID"),
    mark("copilot", None, "COPILOT_CLI"),
    mark("copilot", None, "COPILOT_AGENT_SESSION_ID"),
    mark("an agent", None, "AI_AGENT"),
    // A name that others use for other things.
    Mark { value: Some("1"), ..mark("opencode", None, "AGENT") },
];

/// The names of agent programs, as processes have them.
pub const NAMES: [&str; 6] = ["claude", "codex", "gemini", "qwen", "opencode", "copilot"];
