//! The `claude` program in its judging form: it reads, it does not write, and nothing of what it judges can
//! tell it how to work.

mod call;
mod environment;
mod heard;

pub(super) use heard::hear;

use super::{Called, Credentials, Facts, Vendor};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "claude",
    called: Called {
        name: "`claude`",
        install: "https://code.claude.com/docs",
        sign_in: "run `claude` once and sign in, or set ANTHROPIC_API_KEY",
    },
    vendor: Some(Vendor::Anthropic),
    prompt_max_bytes: call::PROMPT_MAX_BYTES,
    reads_files: true,
    model_variable: Some("ANTHROPIC_MODEL"),
    kept: environment::KEPT,
    families: environment::FAMILIES,
    set: environment::SET,
    credentials: Credentials {
        variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        file: ".credentials.json",
    },
    reports_cost: true,
    prepare: call::prepare,
    hear: heard::hear,
    opened: heard::opened,
    record: None,
};
